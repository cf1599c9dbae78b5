import { describe, expect, test } from 'vitest'
import { createOpaqueToken } from '../../src/auth/opaque-token.ts'
import { expectReply, headerOf } from '../wire/expectations.ts'
import { tokenRecord, useWireServer, type WireServer } from '../wire/harness.ts'
import type { Connection, Reply } from '../wire/raw-socket.ts'
import { plantOf, plantText, post } from '../wire/request.ts'
import { startInProcess } from '../wire/start-in-process.ts'
import { holdClock } from './hold-clock.ts'

const invalid = { error: 'invalid_token' } as const
const tooMany = { error: 'too_many_requests', message: /no valid token/ } as const

function wrongToken(): string {
  return `Bearer ${createOpaqueToken().text}`
}

async function ask(
  caller: Connection,
  authorization: string | null,
  more: readonly string[] = [],
): Promise<Reply> {
  caller.send(post(plantText(1), { authorization, more }))
  return caller.readReply()
}

/** Shows wrong tokens until the limit acts, and gives how many were looked at. */
async function showWrongTokens(server: WireServer, more: readonly string[] = []): Promise<number> {
  const caller = await server.open()
  for (let shown = 0; ; shown++) {
    const reply = await ask(caller, wrongToken(), more)
    if (reply.status === 429) return shown
    expectReply(reply, invalid)
  }
}

async function expectLetIn(caller: Connection, authorization?: string): Promise<void> {
  caller.send(post(plantText(1), authorization === undefined ? {} : { authorization }))
  expectReply(await caller.readReply(), { plant: { name: plantOf(1).name } })
}

describe('by default, wrong tokens from one address', () => {
  // In this process, whose clock a test can hold.
  const server = useWireServer({}, { start: startInProcess })

  test('are refused with 401 sixty times in a minute, then with 429 and Retry-After', async () => {
    holdClock()
    expect(await showWrongTokens(server)).toBe(60)
    const reply = await ask(await server.open(), wrongToken())
    expectReply(reply, tooMany)
    expect(Number(headerOf(reply, 'retry-after'))).toBe(1)
    expect(await server.database.readPlants()).toEqual([])
  })

  test('leave the connection open, and what is malformed counts as well', async () => {
    holdClock()
    await showWrongTokens(server)
    const caller = await server.open()
    for (const authorization of ['Bearer x', wrongToken(), 'Bearer plant_x']) {
      expectReply(await ask(caller, authorization), tooMany)
    }
  })

  test('do not keep out a good token that was used before, on a new connection either', async () => {
    holdClock()
    const before = await server.open()
    await expectLetIn(before)
    await showWrongTokens(server)
    await expectLetIn(before)
    await expectLetIn(await server.open())
  })

  test('are refused without asking the database', async () => {
    holdClock()
    const { execute } = server.database
    await showWrongTokens(server)
    const caller = await server.open()
    await execute('ALTER TABLE tokens RENAME TO tokens_elsewhere')
    try {
      for (let count = 0; count < 20; count++) {
        expectReply(await ask(caller, wrongToken()), tooMany)
      }
    } finally {
      await execute('ALTER TABLE tokens_elsewhere RENAME TO tokens')
    }
  })

  test('are one line of the log for each second in which the limit acts', async () => {
    await showWrongTokens(server)
    const caller = await server.open()
    for (let count = 0; count < 50; count++) await ask(caller, wrongToken())
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

  test('is let in from an address that is over the limit, once all tokens were read', async () => {
    const { text, id, secretSha256 } = createOpaqueToken()
    const late = tokenRecord({ id, secretSha256, name: 'late' })
    await server.database.withStore(({ tokens }) => tokens.add(late))
    await showWrongTokens(server)
    const caller = await server.open()
    await expect
      .poll(async () => (await ask(caller, `Bearer ${text}`)).status, { timeout: 10_000 })
      .toBe(200)
  })
})

describe('behind a trusted proxy', () => {
  const server = useWireServer(
    { trustedProxies: '127.0.0.0/8', failedCredentialLimit: '5' },
    { start: startInProcess },
  )
  const from = (address: string) => [`X-Forwarded-For: ${address}`]

  test('each caller has a limit of its own', async () => {
    holdClock()
    expect(await showWrongTokens(server, from('198.51.100.1'))).toBe(5)
    expect(await showWrongTokens(server, from('9.9.9.9, 198.51.100.2'))).toBe(5)
    const caller = await server.open()
    expectReply(await ask(caller, wrongToken(), from('198.51.100.1')), tooMany)
    expectReply(await ask(caller, wrongToken(), from('198.51.100.3')), invalid)
  })

  test('a caller cannot have another limit by what it puts first', async () => {
    holdClock()
    await showWrongTokens(server, from('198.51.100.4'))
    const caller = await server.open()
    for (const first of ['1.1.1.1', 'unknown', '127.0.0.1']) {
      expectReply(await ask(caller, wrongToken(), from(`${first}, 198.51.100.4`)), tooMany)
    }
  })

  test('all addresses of an IPv6 caller are one', async () => {
    holdClock()
    await showWrongTokens(server, from('2001:db8:1:2::1'))
    const caller = await server.open()
    expectReply(await ask(caller, wrongToken(), from('2001:db8:1:2:ffff::9')), tooMany)
    expectReply(await ask(caller, wrongToken(), from('2001:db8:1:3::1')), invalid)
  })

  test.each(['unknown', ',,,', 'for=1.2.3.4', '\x80\xff', '1.2.3.4:x', `${'1,'.repeat(5_000)}`])(
    'a header that is malformed loses nothing: %j',
    async (forwarded) => {
      const caller = await server.open()
      caller.send(post(plantText(1), { more: from(forwarded) }))
      expectReply(await caller.readReply(), { plant: { name: plantOf(1).name } })
      expect([401, 429]).toContain((await ask(caller, wrongToken(), from(forwarded))).status)
    },
  )
})

describe('without the limit', () => {
  const server = useWireServer({ failedCredentialLimit: 'off' })

  test('every wrong token is answered 401', async () => {
    const caller = await server.open()
    for (let count = 0; count < 200; count++) expectReply(await ask(caller, wrongToken()), invalid)
  })
})
