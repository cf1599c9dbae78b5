import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createOpaqueToken } from '../../src/auth/tokens.ts'
import {
  type ExpectedReply,
  expectReply,
  headerOf,
  wantsJson,
  wrongMethod,
} from '../wire/expectations.ts'
import { tokenRecord, useWireServer } from '../wire/harness.ts'
import type { Reply } from '../wire/raw-socket.ts'
import { plantOf, plantText, post, type RequestParts, request } from '../wire/request.ts'

/** RFC 9651: one Item, a String with Integer parameters. */
const RATE_LIMIT = /^"token";r=(\d+);t=([1-9]\d*)$/

const headers = {
  'ratelimit-policy': '"token";q=2;w=1',
  ratelimit: expect.stringMatching(RATE_LIMIT),
}
const tooMany = { error: 'too_many_requests', headers } as const

describe('a limit of two requests a second', () => {
  const server = useWireServer({ rateLimit: '2' })

  async function newToken(): Promise<string> {
    const { text, id, secretSha256 } = createOpaqueToken()
    await server.database.withStore(({ tokens }) => tokens.add(tokenRecord({ id, secretSha256 })))
    return `Bearer ${text}`
  }

  /** The responses to requests in one packet, so that hardly anything grows back meanwhile. */
  async function askAtOnce(requests: readonly Buffer[]): Promise<Reply[]> {
    const caller = await server.open()
    caller.send(Buffer.concat(requests))
    const replies: Reply[] = []
    for (const _ of requests) replies.push(await caller.readReply())
    return replies
  }

  const remainingOf = (reply: Reply) =>
    Number(RATE_LIMIT.exec(headerOf(reply, 'ratelimit') ?? '')?.[1])

  test('reports what is left, refuses the third without storing it, and takes one after Retry-After', async () => {
    const authorization = await newToken()
    const bodies = ['{', '{', plantText(11)]
    const replies = await askAtOnce(bodies.map((body) => post(body, { authorization })))
    expect(replies.map(remainingOf)).toEqual([1, 0, 0])
    for (const reply of replies.slice(0, 2))
      expectReply(reply, { error: 'malformed_json', headers })
    const refused = replies[2] as Reply
    expectReply(refused, tooMany)
    expect(headerOf(refused, 'retry-after')).toBe('1')
    expect(headerOf(refused, 'ratelimit')).toMatch(/;t=1$/)
    expect(await server.database.readPlants()).toEqual([])
    await sleep(1_020)
    expect((await server.ask(request({ authorization }))).status).toBe(200)
  })

  test('is separate for each token, whatever its name', async () => {
    const first = await newToken()
    const replies = await askAtOnce(
      Array.from({ length: 4 }, () => post('{', { authorization: first })),
    )
    expect(replies.at(-1)?.status).toBe(429)
    expect(remainingOf(await server.ask(request({ authorization: await newToken() })))).toBe(1)
  })

  test.each<[claim: string, parts: RequestParts, expected: ExpectedReply]>([
    ['a plant that is stored', {}, { plant: { name: plantOf(1).name }, headers }],
    ['no plant', { body: '{}' }, { error: 'invalid_plant', headers }],
    [
      'another media type',
      { contentType: 'text/plain' },
      { ...wantsJson, headers: { ...headers, ...wantsJson.headers } },
    ],
    ['another path', { line: 'POST / HTTP/1.1' }, { error: 'not_found', headers }],
    ['another method', { line: 'GET /plants HTTP/1.1', body: '' }, { ...wrongMethod, headers }],
  ])('counts, and is in the response to %s', async (_claim, parts, expected) => {
    const reply = await server.ask(request({ authorization: await newToken(), ...parts }))
    expectReply(reply, expected)
    expect(remainingOf(reply)).toBe(1)
  })

  test('refuses before the body: a wrong one, and one that is never asked for', async () => {
    const authorization = await newToken()
    const asking = { authorization, framing: 'Content-Length: 40', more: ['Expect: 100-continue'] }
    const wrong = Array.from({ length: 3 }, () => post('{', { authorization }))
    const replies = await askAtOnce([...wrong, request({ ...asking, body: '' })])
    for (const reply of replies.slice(2)) expectReply(reply, tooMany)
  })
})
