import { describe, expect, test } from 'vitest'
import { createOpaqueToken } from '../../src/auth/tokens.ts'
import { expectReply, headerOf, stored } from '../wire/expectations.ts'
import { useWireServer, type WireServer } from '../wire/harness.ts'
import {
  get,
  plantOf,
  plantText,
  post,
  preflight,
  request,
  token,
  withLines,
} from '../wire/request.ts'

const tooMany = { error: 'too_many_requests', message: /no valid token/ } as const

const good = request()
const withoutToken = request({ authorization: null })
const withWrongToken = (more: readonly string[] = []) =>
  request({ authorization: `Bearer ${createOpaqueToken().text}`, more })

/** Sends requests until the limit acts, and returns what they were answered before. */
async function failUntilRefused(server: WireServer, next = () => withWrongToken()) {
  const caller = await server.open()
  const statuses: number[] = []
  while (statuses.length < 1_000) {
    caller.send(next())
    const { status } = await caller.readReply()
    if (status === 429) return statuses
    statuses.push(status)
  }
  throw new Error('the limit does not act')
}

describe('by default, requests from one address with a wrong token each', () => {
  const server = useWireServer()

  test('are refused with 401 sixty times in a minute, then with 429 and Retry-After', async () => {
    const caller = await server.open()
    // In one packet, so that none grows back meanwhile.
    caller.send(Buffer.concat(Array.from({ length: 61 }, () => withWrongToken())))
    for (let count = 0; count < 60; count++) expect((await caller.readReply()).status).toBe(401)
    const response = await caller.readReply()
    expectReply(response, tooMany)
    expect(headerOf(response, 'retry-after')).toBe('1')
    expect(headerOf(response, 'connection')).toBe('keep-alive')
    expect(await server.database.readPlants()).toEqual([])
  })
})

describe('requests without a valid token from an address over the limit', () => {
  // One of them grows back in a minute.
  const server = useWireServer({ failedCredentialLimit: '1' })

  test.each([
    ['no token', withoutToken],
    ['another scheme', request({ authorization: 'Basic eDp5' })],
    ['two tokens', withLines(`Authorization: Bearer ${token.text}`)],
    ['a wrong token', withWrongToken()],
    ['a malformed token', request({ authorization: 'Bearer x' })],
    ['a token without its secret', request({ authorization: 'Bearer plant_x' })],
    ['another path', get('/nothing')],
    ['a token in the query', get(`/plants?access_token=${token.text}`)],
  ])('that show %s are refused too, and leave the connection open', async (_claim, sent) => {
    await failUntilRefused(server)
    const caller = await server.open()
    for (let count = 0; count < 2; count++) {
      caller.send(sent)
      expectReply(await caller.readReply(), tooMany)
    }
  })

  test('are answered in their turn among those with a good token, which was used before', async () => {
    await server.ask(good)
    await failUntilRefused(server)
    await server.check({
      sent: Buffer.concat([good, withoutToken, withWrongToken(), post(plantText(2))]),
      replies: [{ ...stored, isRepeat: true }, tooMany, tooMany, stored],
      stored: [plantOf(1), plantOf(2)],
    })
  })

  test('are refused without asking the database', async () => {
    await failUntilRefused(server)
    await server.database.execute('ALTER TABLE tokens RENAME TO tokens_elsewhere')
    try {
      for (let count = 0; count < 20; count++)
        expectReply(await server.ask(withWrongToken()), tooMany)
    } finally {
      await server.database.execute('ALTER TABLE tokens_elsewhere RENAME TO tokens')
    }
  })

  test('are one line of the log for each second in which the limit acts', async () => {
    await failUntilRefused(server)
    for (let count = 0; count < 50; count++) await server.ask(withWrongToken())
    const readLog = async () => (await server.readLog()).map((line) => JSON.parse(line))
    const readSummaries = async () => (await readLog()).filter((line) => 'refused' in line)
    await expect.poll(readSummaries, { timeout: 10_000 }).not.toEqual([])
    const refusals = (await readLog()).filter(({ status }) => status === 429)
    expect(refusals.filter(({ level }) => level !== 'debug')).toEqual([])
    const summaries = await readSummaries()
    expect(summaries[0]).toMatchObject({ level: 'warn', callers: ['127.0.0.1'] })
    expect(summaries.length).toBeLessThan(50)
  })

  test('may read what everybody may', async () => {
    await failUntilRefused(server)
    for (const path of ['/openapi.json', '/openapi-3.0.json?x', '/docs']) {
      expect((await server.ask(get(path))).status).toBe(200)
    }
  })
})

describe('callers over the limit', () => {
  const server = useWireServer({ failedCredentialLimit: '1', requestLimit: '1', docs: 'off' })

  test('are not in flight, and take no place from a good one', async () => {
    await server.expectStoredAndServing([])
    await failUntilRefused(server)
    const release = await server.database.holdCommits()
    const caller = await server.open()
    caller.send(good)
    // With one request in flight any other is answered 503.
    await expect.poll(async () => (await server.ask(post(plantText(2)))).status).toBe(503)
    expectReply(await server.ask(withoutToken), tooMany)
    release()
    expectReply(await caller.readReply(), stored)
  })
})

describe('pages of other origins over the limit', () => {
  const origin = 'https://plants.example'
  const server = useWireServer({ failedCredentialLimit: '1', corsOrigins: origin })

  test('are answered their preflights, and can read why they are refused', async () => {
    await failUntilRefused(server, () => withoutToken)
    for (let count = 0; count < 5; count++) {
      expect((await server.ask(preflight(origin), false)).status).toBe(204)
    }
    const refused = await server.ask(request({ authorization: null, more: [`Origin: ${origin}`] }))
    expect(refused.status).toBe(429)
    expect(headerOf(refused, 'access-control-allow-origin')).toBe(origin)
    expect((await server.ask(preflight('https://other.example'))).status).toBe(429)
  })
})

describe('behind a trusted proxy', () => {
  const server = useWireServer({ trustedProxies: '127.0.0.0/8', failedCredentialLimit: '5' })
  const from = (address: string) => () => withWrongToken([`X-Forwarded-For: ${address}`])

  test('each caller has a limit of its own', async () => {
    expect(await failUntilRefused(server, from('198.51.100.1'))).toHaveLength(5)
    expect(await failUntilRefused(server, from('9.9.9.9, 198.51.100.2'))).toHaveLength(5)
    expectReply(await server.ask(from('198.51.100.3')()), { error: 'invalid_token' })
  })
})
