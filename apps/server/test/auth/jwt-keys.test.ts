import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { keysFromUrl } from '../../src/auth/key-source.ts'
import { issueToken } from '../../src/auth/tokens.ts'
import { until } from '../commands/program.ts'
import { Issuer, startIssuer } from './issuer.ts'
import { good, MINUTE_MS, SECOND_MS, someKey, startJwtService } from './jwt-service.ts'
import { makeKey } from './sign-jwt.ts'

const newKey = makeKey('new')

const [nameless, lasting] = [{ kid: undefined }, { exp: 4e9 }]
const token = good(lasting)
const ofNewKey = good(lasting, {}, newKey)

/** Longer than the cool-down, and shorter than the time after which keys are read again anyway. */
const A_WHILE_MS = MINUTE_MS

/** The response while keys are missing. */
const uncheckable = {
  status: 503,
  error: 50300,
  message: expect.stringMatching(/^nothing was stored, try again: the token cannot be checked/),
  retryAfter: '10',
  challenge: null,
}

describe('rotation:', () => {
  test('a JWT without a kid finds the key that an issuer has changed to', async () => {
    const issuer = new Issuer(someKey, makeKey('another'))
    const { expectAfter } = await startJwtService({ issuer })
    await expectAfter(0, good({}, nameless), 200)
    issuer.keys = [newKey]
    await expectAfter(A_WHILE_MS, good({}, nameless, newKey), 200)
    await expectAfter(0, good({}, nameless), 401)
  })

  test('a file of keys is read again for an unknown kid, and a broken file changes nothing', async () => {
    const path = join(temporaryFolder(), 'keys.json')
    const write = (...keys: (typeof someKey)[]) => writeFileSync(path, new Issuer(...keys).keySet)
    write(someKey)
    const { expectAfter } = await startJwtService({ flags: { jwksFile: path } })
    await expectAfter(0, token, 200)
    write(newKey)
    await expectAfter(10 * SECOND_MS - 1, ofNewKey, 401)
    await expectAfter(1, ofNewKey, 200)
    await expectAfter(0, token, 401)
    writeFileSync(path, ' '.repeat(300_000))
    await expectAfter(5 * MINUTE_MS, ofNewKey, 200)
  })
})

describe('withdrawal:', () => {
  test('keys stop working within 5 minutes, or as soon as it is known, remembered or not', async () => {
    const issuer = new Issuer(someKey, newKey)
    const { expectAfter, authenticate, logLines } = await startJwtService({ issuer })
    await expectAfter(0, token, 200)
    issuer.keys = [newKey]
    await expectAfter(A_WHILE_MS, token, 200)
    await expectAfter(4 * MINUTE_MS, token, 401)
    expect(authenticate.isKnown(token)).toBe(false)
    await expectAfter(0, ofNewKey, 200)
    issuer.keys = [someKey]
    await expectAfter(A_WHILE_MS, ofNewKey, 200)
    await expectAfter(0, token, 200)
    await expectAfter(0, ofNewKey, 401)
    issuer.keys = []
    await expectAfter(5 * MINUTE_MS, token, 401)
    expect(logLines.join('')).toMatch(/"level":40.*"usable":\[\].*took new keys/)
  })

  test('an accepted JWT stops at its expiry', async () => {
    const { issuer, expectAfter } = await startJwtService()
    const ending = good()
    await expectAfter(0, ending, 200)
    await expectAfter(630 * SECOND_MS - 1, ending, 200)
    await expectAfter(1, ending, 401)
    expect(issuer.fetches).toBe(2)
  })
})

describe('cool-down:', () => {
  test('keys are fetched again once in it under 200 requests with unknown kids', async () => {
    const { issuer, statusOf, pass } = await startJwtService()
    const tokens = Array.from({ length: 200 }, (_, n) => good({}, { kid: `unknown${n}` }))
    const storm = async () => new Set(await Promise.all(tokens.map(statusOf)))
    // Those that find no place to wait for the keys are answered 503.
    const judgedOrNot = [new Set([401]), new Set([401, 503])]
    pass(A_WHILE_MS)
    expect(judgedOrNot).toContainEqual(await storm())
    expect(issuer.fetches).toBe(2)
    pass(9.9 * SECOND_MS)
    expect(await storm()).toEqual(new Set([401]))
    expect(issuer.fetches).toBe(2)
    pass(0.1 * SECOND_MS)
    expect(judgedOrNot).toContainEqual(await storm())
    expect(issuer.fetches).toBe(3)
  })

  test('keys are not fetched for tokens that no key could save', async () => {
    const { issuer, expectAfter } = await startJwtService()
    await expectAfter(A_WHILE_MS, 'a.b.c', 401)
    await expectAfter(0, good({ exp: 1 }), 401)
    await expectAfter(0, good({}, { kid: 'unknown', alg: 'HS256' }), 401)
    await expectAfter(0, good({}, { kid: 'unknown', crit: ['x'] }), 401)
    await expectAfter(0, good({}, { kid: 7 }), 401)
    await expectAfter(0, good({}, {}, makeKey('some')), 401)
    expect(issuer.fetches).toBe(1)
  })
})

describe('outage:', () => {
  test('before the issuer was reached only JWTs are not checked, until the end of the cool-down', async () => {
    const issuer = await startIssuer(someKey)
    await issuer.stop()
    const flags = { jwksUrl: issuer.url }
    const { create, store, pass } = await startJwtService({ issuer: new Issuer(), flags })
    const { text } = await issueToken(store, 'greenhouse', Number.POSITIVE_INFINITY)
    expect(await create(text)).toMatchObject({ status: 200 })
    expect(await create(token)).toEqual(uncheckable)
    expect(await create('garbage')).toMatchObject({ status: 401 })
    await issuer.start()
    pass(6 * SECOND_MS)
    expect(await create(token)).toEqual({ ...uncheckable, retryAfter: '4' })
    expect(issuer.fetches).toBe(0)
    pass(4 * SECOND_MS)
    expect(await create(token)).toMatchObject({ status: 200 })
  })

  test('known keys open the service for an hour, and then JWTs cannot be checked', async () => {
    const { issuer, create, expectAfter, logLines } = await startJwtService()
    await expectAfter(0, token, 200)
    await issuer.stop()
    for (let minutes = 10; minutes < 60; minutes += 10) {
      await expectAfter(10 * MINUTE_MS, token, 200)
      await expectAfter(0, good({ ...lasting, sub: `${minutes}` }), 200)
    }
    expect(logLines.join('')).toMatch(/"failure":"connect ECONNREFUSED.*stay until an hour after/)
    await expectAfter(10 * MINUTE_MS, token, 503)
    for (const each of [token, ofNewKey]) expect(await create(each)).toEqual(uncheckable)
    expect(logLines.join('')).toMatch(/"failure":"connect ECONNREFUSED.*no JWT can be checked/)
    await issuer.start()
    await expectAfter(10 * SECOND_MS, token, 200)
    expect(issuer.fetches).toBe(2)
    // Keys that nobody asked for in an hour are read before they are used.
    await expectAfter(120 * MINUTE_MS, token, 200)
    expect(issuer.fetches).toBe(3)
  })

  test('a kid that is not known is neither good nor bad', async () => {
    const { issuer, create, expectAfter, pass } = await startJwtService()
    issuer.keys = [someKey, newKey]
    await issuer.stop()
    pass(A_WHILE_MS)
    expect(await create(ofNewKey)).toEqual(uncheckable)
    await expectAfter(0, good({ exp: 1 }), 401)
    await issuer.start()
    await expectAfter(10 * SECOND_MS, ofNewKey, 200)
  })

  test('nobody waits for an issuer that hangs, attempt after attempt', async () => {
    const { issuer, expectAfter, pass, logLines } = await startJwtService()
    await expectAfter(0, token, 200)
    pass(4 * MINUTE_MS)
    for (let attempt = 1; attempt <= 3; attempt++) {
      const held = new Promise<ServerResponse>((resolve) => {
        issuer.reply = (_request, response) => resolve(response)
      })
      await expectAfter(0, token, 200)
      const response = await held
      await expectAfter(3 * SECOND_MS, good({ ...lasting, sub: `${attempt}` }), 200)
      response.destroy()
      await until(() => logLines.filter((line) => line.includes('cannot read')).length === attempt)
      pass(10 * SECOND_MS)
    }
    expect(issuer.fetches).toBe(4)
  })
})

const end =
  (body: string | Buffer, status = 200, headers = {}): Issuer['reply'] =>
  (_request, response) =>
    response.writeHead(status, headers).end(body)

const cutOff: Issuer['reply'] = (_request, response) => {
  response.writeHead(200, { 'content-length': 1000 }).write('{"keys":[')
  setImmediate(() => response.destroy())
}

describe('keys stay in use when the response of the issuer', () => {
  test.each<[claim: string, reply: (thief: Issuer) => Issuer['reply'], failure: RegExp]>([
    ['is no JSON', () => end('<html>'), /no JSON Web Key Set/],
    ['is another JSON', () => end('{"keys":{}}'), /no JSON Web Key Set/],
    ['is null', () => end('null'), /no JSON Web Key Set/],
    ['has keys of text', () => end('{"keys":["a"]}'), /Key Set/],
    ['is no UTF-8', () => end(Buffer.from([0xff, 0x22])), /encoded data/],
    ['has too many keys', () => end(`{"keys":[${'{},'.repeat(100)}{}]}`), /more than 100 keys/],
    ['is an error', () => end('{"keys":[]}', 500), /responds 500/],
    ['is empty', () => end('', 204), /responds 204/],
    [
      'redirects to a thief',
      (thief) => end(thief.keySet, 302, { location: thief.url }),
      /responds 302/,
    ],
    ['is cut off', () => cutOff, /./],
    ['is a broken connection', () => (request) => request.socket.destroy(), /./],
  ])('%s', async (_claim, reply, failure) => {
    const thief = await startIssuer(someKey)
    const { issuer, expectAfter, logLines } = await startJwtService()
    issuer.reply = reply(thief)
    await expectAfter(5 * MINUTE_MS, good(), 200)
    expect(issuer.fetches).toBe(2)
    expect(thief.fetches).toBe(0)
    const logged = JSON.parse(logLines.find((line) => line.includes('cannot read')) ?? '{}')
    expect(logged.failure).toMatch(failure)
  })
})

describe('a read of keys', () => {
  const never = new AbortController().signal

  test('ends at 256 KiB of an endless response, and ends the connection', async () => {
    let sent = 0
    const { promise: closed, resolve } = Promise.withResolvers()
    const chunk = Buffer.alloc(65_536, ' ')
    function* endless() {
      for (; ; sent += chunk.length) yield chunk
    }
    const { url } = await startIssuer(someKey, (_request, response) => {
      pipeline(endless, response).catch(resolve)
    })
    const read = keysFromUrl(url, { stop: never }).read()
    await expect(read).rejects.toThrow('it is longer than 262144 bytes')
    await closed
    // What the sockets of both sides hold comes on top.
    expect(sent).toBeLessThan(32 * 1024 * 1024)
  })

  test.each<[claim: string, reply: Issuer['reply']]>([
    ['never begins', () => {}],
    ['begins and never ends', (_request, response) => void response.write('{"keys":[')],
  ])('ends in time when the response %s', async (_claim, reply) => {
    const { url } = await startIssuer(someKey, reply)
    const read = keysFromUrl(url, { stop: never, timeoutMs: 50 }).read()
    await expect(read).rejects.toThrow(/timeout/)
  })

  test('ends when the server is asked to end', async () => {
    const stop = new AbortController()
    const { url } = await startIssuer(someKey, () => stop.abort())
    await expect(keysFromUrl(url, { stop: stop.signal }).read()).rejects.toThrow(/abort/)
  })

  test('shows nothing of a query in its description', () => {
    const { description } = keysFromUrl('https://issuer.test/keys?code=secret', { stop: never })
    expect(description).toBe('https://issuer.test/keys')
  })
})
