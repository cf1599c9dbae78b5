import { describe, expect, test } from 'vitest'
import { createOpaqueToken } from '../../src/auth/tokens.ts'
import { ask, get } from '../docs/get.ts'
import { type ExpectedError, expectReply, headerOf } from '../wire/expectations.ts'
import { tokenRecord, useWireServer, type WireServer } from '../wire/harness.ts'
import type { Connection, Reply } from '../wire/raw-socket.ts'
import { plantOf, plantText, post, request, token } from '../wire/request.ts'
import { startInProcess } from '../wire/start-in-process.ts'
import { holdClock } from './hold-clock.ts'

const missing = { error: 'missing_credentials' } as const
const invalid = { error: 'invalid_token' } as const
const tooMany = { error: 'too_many_requests', message: /no valid token/ } as const
const stored = { plant: { name: plantOf(1).name } }

const wrongToken = () => `Bearer ${createOpaqueToken().text}`
const noToken = () => null
const stranger = request({ authorization: null })

async function createOn(
  caller: Connection,
  authorization: string | null,
  more: readonly string[] = [],
): Promise<Reply> {
  caller.send(post(plantText(1), { authorization, more }))
  return caller.readReply()
}

/** Fails with wrong tokens until the limit acts, and returns how many were answered 401. */
async function failUntilRefused(
  server: WireServer,
  more: readonly string[] = [],
  makeCredential: () => string | null = wrongToken,
  expected: ExpectedError = makeCredential === noToken ? missing : invalid,
): Promise<number> {
  const caller = await server.open()
  for (let failed = 0; failed < 1_000; failed++) {
    const reply = await createOn(caller, makeCredential(), more)
    if (reply.status === 429) return failed
    expectReply(reply, expected)
  }
  throw new Error('the limit does not act')
}

async function expectLetIn(caller: Connection, isRepeat = false): Promise<void> {
  caller.send(post(plantText(1)))
  expectReply(await caller.readReply(), { ...stored, isRepeat })
}

describe.each([
  ['no token', noToken],
  ['a wrong token each', wrongToken],
])('by default, requests from one address with %s', (_claim, makeCredential) => {
  // In this process, whose clock a test can hold.
  const server = useWireServer({}, { start: startInProcess })

  test('are refused with 401 sixty times in a minute, then with 429 and Retry-After', async () => {
    holdClock()
    expect(await failUntilRefused(server, [], makeCredential)).toBe(60)
    const reply = await createOn(await server.open(), makeCredential())
    expectReply(reply, tooMany)
    expect(headerOf(reply, 'retry-after')).toBe('1')
    expect(headerOf(reply, 'connection')).toBe('keep-alive')
    expect(await server.database.readPlants()).toEqual([])
  })
})

describe('requests without a valid token from an address over the limit', () => {
  const server = useWireServer({}, { start: startInProcess })

  test.each([
    ['no token', stranger],
    ['another scheme', request({ authorization: 'Basic eDp5' })],
    ['two tokens', request({ more: [`Authorization: Bearer ${token.text}`] })],
    ['a wrong token', request({ authorization: wrongToken() })],
    ['a malformed token', request({ authorization: 'Bearer x' })],
    ['a token without its secret', request({ authorization: 'Bearer plant_x' })],
    ['another path', get('/nothing')],
    ['a token in the query', get(`/plants?access_token=${token.text}`)],
  ])('that show %s are refused too, and leave the connection open', async (_claim, sent) => {
    holdClock()
    await failUntilRefused(server)
    const caller = await server.open()
    for (let count = 0; count < 2; count++) {
      caller.send(sent)
      expectReply(await caller.readReply(), tooMany)
    }
  })

  test('do not keep out a good token that was used before, on a new connection either', async () => {
    holdClock()
    const before = await server.open()
    await expectLetIn(before)
    await failUntilRefused(server)
    await expectLetIn(before, true)
    const other = await server.open()
    expectReply(await createOn(other, null), tooMany)
    await expectLetIn(other, true)
  })

  test('do not count if they read what everybody may, and may go on to read it', async () => {
    holdClock()
    const before = await server.open()
    for (let count = 0; count < 100; count++) {
      before.send(get('/openapi.json'))
      expect((await before.readReply()).status).toBe(200)
    }
    await failUntilRefused(server, [], noToken)
    for (const path of ['/openapi.json', '/openapi-3.0.json?x', '/docs']) {
      expect((await ask(server, get(path))).status).toBe(200)
    }
  })

  test('are answered in their turn among pipelined ones', async () => {
    holdClock()
    await expectLetIn(await server.open())
    await failUntilRefused(server)
    const wrong = request({ authorization: wrongToken() })
    await server.check({
      sent: Buffer.concat([post(plantText(1)), stranger, wrong, post(plantText(2))]),
      replies: [{ ...stored, isRepeat: true }, tooMany, tooMany, stored],
      stored: [plantOf(1), plantOf(2)],
    })
  })

  test('are refused without asking the database', async () => {
    holdClock()
    const { execute } = server.database
    await failUntilRefused(server)
    const caller = await server.open()
    await execute('ALTER TABLE tokens RENAME TO tokens_elsewhere')
    try {
      for (let count = 0; count < 20; count++) {
        expectReply(await createOn(caller, wrongToken()), tooMany)
      }
    } finally {
      await execute('ALTER TABLE tokens_elsewhere RENAME TO tokens')
    }
  })

  test('are one line of the log for each second in which the limit acts', async () => {
    await failUntilRefused(server)
    const caller = await server.open()
    for (let count = 0; count < 50; count++) await createOn(caller, wrongToken())
    await expect
      .poll(async () => (await server.readLog()).join(), { timeout: 10_000 })
      .toContain('limits refused')
    const lines = (await server.readLog()).map((line) => JSON.parse(line))
    expect(lines.filter(({ status, level }) => status === 429 && level !== 'debug')).toEqual([])
    const summaries = lines.filter(({ refused }) => refused !== undefined)
    expect(summaries[0]).toMatchObject({ level: 'warn', callers: ['127.0.0.1'] })
    expect(summaries.length).toBeLessThan(50)
  })
})

describe('a good token that this server has not seen yet', () => {
  const server = useWireServer({ failedCredentialLimit: '1' })

  test('is let in from an address over the limit, once all tokens were read', async () => {
    const { text, id, secretSha256 } = createOpaqueToken()
    const late = tokenRecord({ id, secretSha256, name: 'late' })
    await server.database.withStore(({ tokens }) => tokens.add(late))
    await failUntilRefused(server)
    const caller = await server.open()
    await expect
      .poll(async () => (await createOn(caller, `Bearer ${text}`)).status, { timeout: 10_000 })
      .toBe(200)
  })
})

describe('callers over the limit', () => {
  const server = useWireServer(
    { failedCredentialLimit: '1', requestLimit: '1', docs: 'off' },
    { start: startInProcess },
  )

  test('are not in flight, and take no place from a good one', async () => {
    holdClock()
    await server.expectStoredAndServing([])
    await failUntilRefused(server)
    const release = await server.database.holdCommits()
    const good = await server.open()
    good.send(post(plantText(1)))
    // With one request in flight any other is answered 503.
    await expect.poll(async () => (await ask(server, post(plantText(2)))).status).toBe(503)
    expectReply(await ask(server, stranger), tooMany)
    release()
    expectReply(await good.readReply(), stored)
  })

  test('find no public path while the document is off', async () => {
    holdClock()
    await failUntilRefused(server)
    expectReply(await ask(server, get('/openapi.json')), tooMany)
  })
})

describe('pages of other origins over the limit', () => {
  const origin = 'https://plants.example'
  const server = useWireServer(
    { failedCredentialLimit: '1', corsOrigins: origin },
    { start: startInProcess },
  )

  test('are answered their preflights, and can read why they are refused', async () => {
    holdClock()
    await failUntilRefused(server, [], noToken, { ...missing, headers: { vary: 'Origin' } })
    const asks = ['Access-Control-Request-Method: POST']
    const preflight = { line: 'OPTIONS /plants HTTP/1.1', authorization: null, body: '' }
    const listed = request({ ...preflight, more: [`Origin: ${origin}`, ...asks] })
    for (let count = 0; count < 5; count++) {
      expect((await ask(server, listed, false)).status).toBe(204)
    }
    const sent = request({ authorization: null, more: [`Origin: ${origin}`] })
    const refused = await ask(server, sent)
    expect(refused.status).toBe(429)
    expect(headerOf(refused, 'access-control-allow-origin')).toBe(origin)
    const unlisted = request({ ...preflight, more: ['Origin: https://other.example', ...asks] })
    expect((await ask(server, unlisted)).status).toBe(429)
  })
})

describe('behind a trusted proxy', () => {
  const server = useWireServer(
    { trustedProxies: '127.0.0.0/8', failedCredentialLimit: '5' },
    { start: startInProcess },
  )
  const from = (address: string) => [`X-Forwarded-For: ${address}`]

  async function expectBeyond(address: string, others: readonly string[]): Promise<void> {
    const caller = await server.open()
    for (const other of others) {
      expectReply(await createOn(caller, wrongToken(), from(other)), tooMany)
    }
    expectReply(await createOn(caller, wrongToken(), from(address)), invalid)
  }

  test('each caller has a limit of its own', async () => {
    holdClock()
    expect(await failUntilRefused(server, from('198.51.100.1'))).toBe(5)
    expect(await failUntilRefused(server, from('9.9.9.9, 198.51.100.2'))).toBe(5)
    await expectBeyond('198.51.100.3', ['198.51.100.1'])
  })

  test('a caller cannot have another limit by what it puts first', async () => {
    holdClock()
    await failUntilRefused(server, from('198.51.100.4'))
    const forged = ['1.1.1.1', 'unknown', '127.0.0.1'].map((first) => `${first}, 198.51.100.4`)
    await expectBeyond('198.51.100.5', forged)
  })

  test.each([',,,', '\x80\xff', `${'1,'.repeat(5_000)}`])(
    'a header that is malformed loses nothing: %j',
    async (forwarded) => {
      const caller = await server.open()
      caller.send(post(plantText(1), { more: from(forwarded) }))
      expectReply(await caller.readReply(), stored)
      expect([401, 429]).toContain((await createOn(caller, wrongToken(), from(forwarded))).status)
    },
  )
})
