import { errorNameOf } from '@plant-store/contract'
import { describe, expect, test } from 'vitest'
import {
  type ExpectedReply,
  expectReply,
  headerOf,
  wantsIdentity,
  wantsJson,
} from './expectations.ts'
import { useWireServer } from './harness.ts'
import type { Connection, Reply } from './raw-socket.ts'
import { inChunk, plantOf, plantText, post, postChunks } from './request.ts'

const server = useWireServer({ failedCredentialLimit: 'off' })

/** How many requests are on their way at the same time. */
const BATCH = 100

/** What a reply must be, given what its body says it is. */
function expectationOf(reply: Reply): ExpectedReply {
  if (reply.status === 200) {
    const isRepeat = headerOf(reply, 'idempotent-replayed') !== undefined
    return { plant: { name: plantOf(1).name }, isRepeat }
  }
  const error = errorNameOf(JSON.parse(reply.body).error)
  if (error === undefined) throw new Error(`no Error: ${reply.body}`)
  if (error !== 'unsupported_media_type') return { error }
  return headerOf(reply, 'accept') === undefined ? wantsIdentity : wantsJson
}

/** Every reply up to one that says "connection: close"; bytes that are no whole reply fail. */
async function readReplies(caller: Connection): Promise<Reply[]> {
  const replies: Reply[] = []
  for (;;) {
    const reply = await caller.readReply().catch(() => undefined)
    if (reply === undefined) break
    if (reply.status !== 100) replies.push(reply)
    if (headerOf(reply, 'connection') === 'close') return replies
  }
  expect(String(await caller.readToEnd())).toBe('')
  return replies
}

async function checkMutant(bytes: Buffer): Promise<void> {
  const caller = await server.open()
  caller.send(bytes)
  caller.finish()
  const replies = await readReplies(caller)
  for (const reply of replies) expectReply(reply, expectationOf(reply))
  // A request whose length was cut may leave a rest, which is no request; nothing else may follow.
  caller.destroy()
  const good = replies.filter(({ status }) => status === 200)
  expect(good.length).toBeLessThan(2)
  expect(replies.length).toBeLessThan(3)
}

async function checkMutants(mutants: readonly Buffer[]): Promise<void> {
  for (let start = 0; start < mutants.length; start += BATCH) {
    await Promise.all(mutants.slice(start, start + BATCH).map(checkMutant))
  }
  const stored = await server.database.readPlants()
  // The bodies are whole, so that what is stored can only be their plant.
  expect([[], [plantOf(1)]]).toContainEqual(stored)
  await server.expectStoredAndServing(stored)
}

/** Each way to change one byte of the head: what stands in its place. */
const mutations: [claim: string, replacement: (byte: number) => number[]][] = [
  ['a NUL', () => [0x00]],
  ['a line feed', () => [0x0a]],
  ['a return', () => [0x0d]],
  ['a space', () => [0x20]],
  ['a colon', () => [0x3a]],
  ['FF', () => [0xff]],
  ['nothing', () => []],
  ['itself twice', (byte) => [byte, byte]],
]

describe.each<[claim: string, bytes: Buffer]>([
  ['a body by its length', post(plantText(1))],
  ['a chunked body', postChunks(inChunk(plantText(1)))],
])('every reply is well formed when any one byte before %s', (_claim, bytes) => {
  const head = bytes.subarray(0, bytes.indexOf('\r\n\r\n') + 4)
  test.each(mutations)('is replaced by %s', (_replacement, replacementOf) =>
    checkMutants(
      [...head].map((byte, index) =>
        Buffer.from([...bytes].toSpliced(index, 1, ...replacementOf(byte))),
      ),
    ),
  )
})
