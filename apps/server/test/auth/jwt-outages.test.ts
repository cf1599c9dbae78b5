import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { keysFromUrl } from '../../src/auth/key-source.ts'
import { issueToken } from '../../src/auth/tokens.ts'
import { until } from '../commands/program.ts'
import { Issuer } from './issuer.ts'
import {
  good,
  MINUTE_MS,
  SECOND_MS,
  someKey,
  startJwtService,
  startWithKey,
} from './jwt-service.ts'
import { makeKey } from './sign-jwt.ts'

const never = new AbortController().signal

const uncheckable = {
  status: 503,
  error: 50300,
  message: expect.stringMatching(/^nothing was stored, try again: the token cannot be checked/),
  retryAfter: '10',
  challenge: null,
}

/** A service whose issuer was never there. */
async function startWithoutIssuer() {
  const issuer = new Issuer(someKey)
  await issuer.start()
  const { url } = issuer
  await issuer.stop()
  const service = await startJwtService({ issuer: new Issuer(), flags: { jwksUrl: url } })
  return { ...service, issuer }
}

describe('while the issuer was never reached', { timeout: 60_000 }, () => {
  test('opaque tokens open the service, and the reply to a JWT says that it cannot be checked', async () => {
    const { create, store } = await startWithoutIssuer()
    const lasting = await issueToken(store, 'greenhouse', Number.POSITIVE_INFINITY)
    expect((await create(lasting.text)).status).toBe(200)
    expect(await create(good())).toEqual(uncheckable)
    expect(await create('garbage')).toMatchObject({ status: 401 })
  })

  test('a JWT is accepted within the cool-down after it has come back', async () => {
    const { issuer, create, pass } = await startWithoutIssuer()
    expect(await create(good())).toEqual(uncheckable)
    await issuer.start()
    pass(6 * SECOND_MS)
    expect(await create(good())).toEqual({ ...uncheckable, retryAfter: '4' })
    expect(issuer.fetches).toBe(0)
    pass(4 * SECOND_MS)
    expect((await create(good())).status).toBe(200)
    await issuer.stop()
  })
})

describe('while the issuer is down', { timeout: 60_000 }, () => {
  test('its known keys open the service for an hour, and then JWTs cannot be checked', async () => {
    const { issuer, create, statusOf, authenticate, pass, logLines } = await startJwtService()
    const [remembered, connection] = [good({ exp: 4e9 }), {}]
    expect(await statusOf(remembered)).toBe(200)
    await issuer.stop()
    for (let minutes = 10; minutes < 60; minutes += 10) {
      pass(10 * MINUTE_MS)
      expect(await statusOf(remembered)).toBe(200)
      expect(await statusOf(good({ exp: 4e9, sub: `${minutes}` }))).toBe(200)
      expect(await authenticate(remembered, connection)).toBeDefined()
    }
    expect(logLines.join('')).toMatch(/"failure":"connect ECONNREFUSED.*stay until an hour after/)
    pass(10 * MINUTE_MS)
    expect(await create(remembered)).toEqual(uncheckable)
    expect(await create(good({ exp: 4e9, sub: 'other' }))).toEqual(uncheckable)
    await expect(authenticate(remembered, connection)).rejects.toThrow('cannot be checked')
    expect(logLines.join('')).toMatch(/"failure":"connect ECONNREFUSED.*no JWT can be checked/)
    await issuer.start()
    pass(10 * SECOND_MS)
    expect(await statusOf(remembered)).toBe(200)
  })

  test('keys that nobody asked for in an hour are read before they are used', async () => {
    const { token, issuer, statusOf, pass } = await startWithKey()
    pass(120 * MINUTE_MS)
    expect(await statusOf(token)).toBe(200)
    expect(issuer.fetches).toBe(2)
  })

  test('a kid that is not known is neither good nor bad', async () => {
    const { issuer, create, pass } = await startJwtService()
    const newKey = makeKey('new')
    expect((await create(good())).status).toBe(200)
    issuer.keys = [someKey, newKey]
    await issuer.stop()
    pass(MINUTE_MS)
    expect(await create(good({}, {}, newKey))).toEqual(uncheckable)
    expect((await create(good({ exp: 1 }))).status).toBe(401)
    await issuer.start()
    pass(10 * SECOND_MS)
    expect((await create(good({}, {}, newKey))).status).toBe(200)
  })

  test('nobody waits for its reply, attempt after attempt', async () => {
    const { token, issuer, statusOf, pass, logLines } = await startWithKey()
    pass(4 * MINUTE_MS)
    for (let attempt = 1; attempt <= 3; attempt++) {
      const held = new Promise<ServerResponse>((resolve) => {
        issuer.reply = (_request, response) => resolve(response)
      })
      expect(await statusOf(token)).toBe(200)
      const response = await held
      pass(3 * SECOND_MS)
      expect(await statusOf(good({ exp: 4e9, sub: `${attempt}` }))).toBe(200)
      response.destroy()
      await until(() => logLines.filter((line) => line.includes('cannot read')).length === attempt)
      pass(10 * SECOND_MS)
    }
    expect(issuer.fetches).toBe(4)
  })
})

const end =
  (body: string | Buffer, status = 200): Issuer['reply'] =>
  (_request, response) =>
    response.writeHead(status).end(body)

const cutOff: Issuer['reply'] = (_request, response) => {
  response.writeHead(200, { 'content-length': 1000 }).write('{"keys":[')
  setImmediate(() => response.destroy())
}

const strange: [claim: string, reply: Issuer['reply'], failure: RegExp][] = [
  ['is no JSON', end('<html>'), /no JSON Web Key Set/],
  ['is another JSON', end('{"keys":{}}'), /no JSON Web Key Set/],
  ['is null', end('null'), /no JSON Web Key Set/],
  ['has keys of text', end('{"keys":["a"]}'), /Key Set/],
  ['is no UTF-8', end(Buffer.from([0xff, 0x22])), /encoded data/],
  ['has too many keys', end(`{"keys":[${'{},'.repeat(100)}{}]}`), /more than 100 keys/],
  ['is an error', end('{"keys":[]}', 500), /responds 500/],
  ['is empty', end('', 204), /responds 204/],
  ['is cut off', cutOff, /./],
  ['is a broken connection', (request) => request.socket.destroy(), /./],
]

describe('keys stay in use when the reply of the issuer', { timeout: 60_000 }, () => {
  test.each(strange)('%s', async (_claim, reply, failure) => {
    const { issuer, statusOf, pass, logLines } = await startWithKey()
    issuer.reply = reply
    pass(5 * MINUTE_MS)
    expect(await statusOf(good())).toBe(200)
    expect(issuer.fetches).toBe(2)
    const logged = JSON.parse(logLines.find((line) => line.includes('cannot read')) ?? '{}')
    expect(logged.failure).toMatch(failure)
  })

  test('redirects, and the redirect is not followed', async () => {
    const thief = new Issuer(makeKey('some'))
    await thief.start()
    const { issuer, statusOf, pass } = await startWithKey()
    issuer.reply = (_request, response) =>
      response.writeHead(302, { location: thief.url }).end(thief.keySet)
    pass(5 * MINUTE_MS)
    expect(await statusOf(good())).toBe(200)
    expect(thief.fetches).toBe(0)
    await thief.stop()
  })
})

describe('a read of keys', { timeout: 60_000 }, () => {
  test('ends at 256 KiB of an endless answer, and ends the connection', async () => {
    const issuer = new Issuer()
    let sent = 0
    const closed = new Promise<void>((resolve) => {
      issuer.reply = (_request, response) => {
        response.on('close', resolve)
        const chunk = Buffer.alloc(65_536, ' ')
        const more = () => {
          while (!response.destroyed && response.write(chunk)) sent += chunk.length
          sent += chunk.length
        }
        response.on('drain', more)
        more()
      }
    })
    await issuer.start()
    const read = keysFromUrl(issuer.url, { stop: never }).read()
    await expect(read).rejects.toThrow('it is longer than 262144 bytes')
    await closed
    // What the sockets of both sides hold comes on top.
    expect(sent).toBeLessThan(32 * 1024 * 1024)
    await issuer.stop()
  })

  test.each<[claim: string, reply: Issuer['reply']]>([
    ['never begins', () => {}],
    ['begins and never ends', (_request, response) => void response.write('{"keys":[')],
  ])('ends in time when the reply %s', async (_claim, reply) => {
    const issuer = new Issuer()
    issuer.reply = reply
    await issuer.start()
    const read = keysFromUrl(issuer.url, { stop: never, timeoutMs: 50 }).read()
    await expect(read).rejects.toThrow(/timeout/)
    await issuer.stop()
  })

  test('ends when the server is asked to end', async () => {
    const issuer = new Issuer()
    const stop = new AbortController()
    issuer.reply = () => stop.abort()
    await issuer.start()
    const read = keysFromUrl(issuer.url, { stop: stop.signal }).read()
    await expect(read).rejects.toThrow(/abort/)
    await issuer.stop()
  })

  test('shows nothing of a query in its description', () => {
    const { description } = keysFromUrl('https://issuer.test/keys?code=secret', { stop: never })
    expect(description).toBe('https://issuer.test/keys')
  })
})
