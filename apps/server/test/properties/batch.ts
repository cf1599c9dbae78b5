import { isUtf8 } from 'node:buffer'
import { isDeepStrictEqual } from 'node:util'
import { errorTable } from '@plant-store/contract'
import { expect } from 'vitest'
import type { StoredPlant } from '../wire/database-under-test.ts'
import { expectReply } from '../wire/expectations.ts'
import type { Connection, Reply } from '../wire/raw-socket.ts'
import { post } from '../wire/request.ts'
import type { DocumentValidator } from './document-validator.ts'
import { parseExactly } from './exact-json.ts'
import { judge, type Verdict } from './judge.ts'

/** A body that was sent, what the document says of it, and what the server said. */
export interface Exchange {
  readonly body: Buffer
  readonly verdict: Verdict
  readonly reply: Reply
}

/** Sends bodies over all connections at once, pipelined, and judges each by the document. */
export async function exchange(
  bodies: readonly Buffer[],
  connections: readonly Connection[],
  document: DocumentValidator,
): Promise<Exchange[]> {
  const share = Math.ceil(bodies.length / connections.length)
  const shares = connections.map(async (connection, index) => {
    const sent = bodies.slice(index * share, (index + 1) * share)
    connection.send(Buffer.concat(sent.map((body) => post(body))))
    const exchanges: Exchange[] = []
    for (const body of sent) {
      const verdict = judge(body, document)
      exchanges.push({ body, verdict, reply: await connection.readReply() })
    }
    return exchanges
  })
  return (await Promise.all(shares)).flat()
}

function show(body: Buffer): string {
  return isUtf8(body) ? JSON.stringify(body.toString()) : `the bytes ${body.toString('hex')}`
}

function expectAnswered({ verdict, reply }: Exchange, stored: StoredPlant | undefined): void {
  if ('error' in verdict) {
    expectReply(reply, verdict)
    return
  }
  const { id: _id, ...plant } = verdict.plant
  const isStored = isDeepStrictEqual(stored, verdict.plant)
  expectReply(reply, isStored ? { plant, isRepeat: isRepeat(reply) } : { error: 'id_taken' })
}

/** Whether a reply says that the plant was there before. */
function isRepeat({ headers }: Reply): boolean {
  return headers.has('idempotent-replayed')
}

/**
 * Holds the replies to a batch against the document, and the store that was empty before it: of
 * the plants under one id exactly one is stored, its repeats say so, and the others are refused.
 */
export function expectAgreement(
  exchanges: readonly Exchange[],
  stored: readonly StoredPlant[],
  document: DocumentValidator,
): void {
  const plants = new Map(stored.map((plant) => [plant.id, plant]))
  const valid = new Set<bigint>()
  for (const one of exchanges) {
    const { body, verdict, reply } = one
    try {
      if ('plant' in verdict) valid.add(verdict.plant.id)
      expectAnswered(one, 'plant' in verdict ? plants.get(verdict.plant.id) : undefined)
      expect(document.isResponseBody(reply.status, parseExactly(reply.body))).toBe(true)
    } catch (cause) {
      const said = 'error' in verdict ? verdict.error : 'a plant'
      const message = `the document calls ${show(body)} ${said}, the server replies ${reply.status} ${reply.body}`
      throw new Error(message, { cause })
    }
  }
  // Each valid id is stored with what was answered 200; nothing else may be.
  expect([...plants.keys()].filter((id) => !valid.has(id))).toEqual([])
  expect([...valid].filter((id) => !plants.has(id))).toEqual([])
  for (const plant of stored) {
    const created = exchanges.filter(
      ({ verdict, reply }) =>
        reply.status === 200 &&
        !isRepeat(reply) &&
        'plant' in verdict &&
        isDeepStrictEqual(verdict.plant, plant),
    )
    expect(created, `${plant.id} was answered 200 as new, once`).toHaveLength(1)
  }
}

/** What became of a body, as a word to count by. */
export function outcomeOf({ reply }: Exchange): string {
  if (reply.status === 200) return 'stored'
  const { error } = JSON.parse(reply.body)
  const known = Object.entries(errorTable).find(([, { code }]) => code === error)
  return known?.[0] ?? 'unknown'
}
