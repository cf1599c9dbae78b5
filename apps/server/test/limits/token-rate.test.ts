import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createOpaqueToken } from '../../src/auth/tokens.ts'
import { expectReply, headerOf } from '../wire/expectations.ts'
import { tokenRecord, useWireServer } from '../wire/harness.ts'
import { plantOf, plantText, post, type RequestParts, request } from '../wire/request.ts'
import { startInProcess } from '../wire/start-in-process.ts'
import { holdClock } from './hold-clock.ts'

/** RFC 9651: one Item, a String with Integer parameters. */
const RATE_LIMIT = /^"token";r=(\d+);t=([1-9]\d*)$/

const policy = '"token";q=10;w=1'
const fields = { 'ratelimit-policy': policy, ratelimit: expect.stringMatching(RATE_LIMIT) }

describe('a limit of ten requests a second', () => {
  // In this process, whose clock a test can hold.
  const server = useWireServer({ rateLimit: '10' }, { start: startInProcess })

  async function newToken(): Promise<string> {
    const { text, id, secretSha256 } = createOpaqueToken()
    await server.database.withStore(({ tokens }) => tokens.add(tokenRecord({ id, secretSha256 })))
    return `Bearer ${text}`
  }

  async function asker(authorization: string) {
    const caller = await server.open()
    return async (body = plantText(1), parts: RequestParts = {}) => {
      caller.send(post(body, { authorization, ...parts }))
      const reply = await caller.readReply()
      const [, remaining, window] = RATE_LIMIT.exec(headerOf(reply, 'ratelimit') ?? '') ?? []
      return { reply, remaining: Number(remaining), window: Number(window) }
    }
  }

  test('reports what is left, and refuses the eleventh at once without storing it', async () => {
    holdClock()
    const ask = await asker(await newToken())
    for (let id = 1; id <= 10; id++) {
      const { reply, remaining, window } = await ask(plantText(id))
      expectReply(reply, { plant: { name: plantOf(id).name }, headers: fields })
      expect(remaining).toBe(10 - id)
      expect(window).toBe(1)
    }
    const { reply, remaining, window } = await ask(plantText(11))
    expectReply(reply, { error: 'too_many_requests', headers: fields })
    expect(remaining).toBe(0)
    expect(headerOf(reply, 'retry-after')).toBe(String(window))
    const stored = await server.database.readPlants()
    expect(stored.map(({ id }) => id)).not.toContain(11n)
  })

  test('lets the caller in again when it comes back after Retry-After', async () => {
    const ask = await asker(await newToken())
    let asked = await ask()
    while (asked.reply.status === 200) asked = await ask()
    await sleep(Number(headerOf(asked.reply, 'retry-after')) * 1_000 + 20)
    expect((await ask()).reply.status).toBe(200)
  })

  test('is separate for each token, whatever its name', async () => {
    const ask = await asker(await newToken())
    while ((await ask()).reply.status === 200);
    expect((await (await asker(await newToken()))()).remaining).toBe(9)
  })

  test('counts, and is in every reply behind the credential', async () => {
    holdClock()
    const ask = await asker(await newToken())
    expectReply((await ask('{')).reply, { error: 'malformed_json', headers: fields })
    expectReply((await ask('{}')).reply, { error: 'invalid_plant', headers: fields })
    const text = await ask('x', { contentType: 'text/plain' })
    expectReply(text.reply, {
      error: 'unsupported_media_type',
      headers: { ...fields, accept: 'application/json' },
    })
    const wrongPath = await ask('x', { line: 'POST / HTTP/1.1' })
    expectReply(wrongPath.reply, { error: 'not_found', headers: fields })
    const got = await ask('', { line: 'GET /plants HTTP/1.1' })
    expectReply(got.reply, { error: 'method_not_allowed', headers: fields })
    expect(got.remaining).toBe(5)
  })

  test('refuses before the body: a wrong one, and one that is never asked for', async () => {
    holdClock()
    const authorization = await newToken()
    const ask = await asker(authorization)
    while ((await ask()).reply.status === 200);
    const refused = { error: 'too_many_requests', headers: fields } as const
    expectReply((await ask('{')).reply, refused)
    const caller = await server.open()
    const framing = 'Content-Length: 40'
    const more = ['Expect: 100-continue']
    caller.send(request({ authorization, framing, more, body: '' }))
    expectReply(await caller.readReply(), refused)
  })

  test('is not in the reply to a stranger', async () => {
    const caller = await server.open()
    caller.send(post(plantText(1), { authorization: `Bearer ${createOpaqueToken().text}` }))
    expectReply(await caller.readReply(), { error: 'invalid_token' })
  })
})
