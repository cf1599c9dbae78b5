import { describe, expect, test } from 'vitest'
import { issueToken } from '../../src/auth/tokens.ts'
import { openConnection } from '../wire/raw-socket.ts'
import { plantText, post } from '../wire/request.ts'
import { Issuer } from './issuer.ts'
import { good, MINUTE_MS, startJwtService } from './jwt-service.ts'
import { makeKey } from './sign-jwt.ts'

const thief = makeKey('some')

test('while an issuer hangs, JWTs that ask for its keys take an eighth of the requests in flight, and hold up nobody', async () => {
  const flags = { requestLimit: '200', failedCredentialLimit: '1' }
  const { issuer, create, store, statusOf, pass } = await startJwtService({ flags })
  const { text } = await issueToken(store, 'greenhouse', Number.POSITIVE_INFINITY)
  const known = good({ sub: 'known' })
  expect(await statusOf(known)).toBe(200)
  const asked = new Promise<void>((resolve) => {
    issuer.reply = () => resolve()
  })
  pass(MINUTE_MS)
  const statuses: number[] = []
  const flood = Array.from({ length: 300 }, async (_, index) => {
    const response = await create(good({}, { kid: `unknown${index}` }))
    statuses.push(response.status)
    return response
  })
  await asked
  await expect.poll(() => statuses.length, { timeout: 10_000 }).toBe(300 - 25)
  for (const token of [text, known, good({ sub: 'new' })]) expect(await statusOf(token)).toBe(200)
  expect(statuses).toHaveLength(300 - 25)
  await issuer.stop()
  // None of them was judged, so none counts as wrong.
  for (const response of await Promise.all(flood)) {
    expect(response).toMatchObject({ status: 503, retryAfter: expect.any(String) })
  }
})

describe('a flood of forged JWTs', () => {
  test('from one address is refused before their signatures are verified', async () => {
    const flags = { failedCredentialLimit: '5' }
    const { url, statusOf, logLines } = await startJwtService({ flags })
    const token = good()
    expect(await statusOf(token)).toBe(200)
    const port = Number(new URL(url).port)
    const callers = await Promise.all(Array.from({ length: 100 }, () => openConnection(port)))
    for (const caller of callers) {
      caller.send(post(plantText(1_000), { authorization: `Bearer ${token}` }))
      expect((await caller.readReply()).status).toBe(200)
    }
    // Known to the server by now, they are read in one turn, before any forged JWT was judged.
    for (const [index, caller] of callers.entries()) {
      const authorization = `Bearer ${good({ sub: `${index}` }, {}, thief)}`
      caller.send(post(plantText(index), { authorization }))
    }
    const responses = await Promise.all(callers.map((caller) => caller.readReply()))
    for (const caller of callers) caller.destroy()
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([401, 429]))
    const forged = logLines.filter((line) => line.includes('SIGNATURE_VERIFICATION_FAILED'))
    // Plus those that were being verified when the limit was reached.
    expect(forged.length).toBeLessThanOrEqual(5 + 2)
    expect(await statusOf(token)).toBe(200)
  })

  test('is looked at in turn: at most two at a time, and an eighth of the requests waits', async () => {
    const { authenticate } = await startJwtService({ flags: { requestLimit: '80' } })
    const checks = Array.from({ length: 50 }, async (_, index) =>
      authenticate(good({ sub: `${index}` }, {}, thief), {}),
    )
    const settled = await Promise.allSettled(checks)
    const refused = settled.flatMap((check) => (check.status === 'rejected' ? [check.reason] : []))
    expect(refused).toHaveLength(50 - 10 - 2)
    for (const reason of refused) {
      expect(reason).toMatchObject({ errorName: 'unavailable', headers: ['retry-after', '1'] })
    }
  })
})

describe('a JWT that names no key of its own', () => {
  const makeKeys = (count: number, kid?: string) =>
    Array.from({ length: count }, (_, index) => makeKey(kid ?? `key${index}`))
  const start = (...keys: (typeof thief)[]) => startJwtService({ issuer: new Issuer(...keys) })

  test.each([[undefined], ['shared']])('but the kid %s is tried with four keys', async (kid) => {
    const keys = makeKeys(4, kid)
    const { statusOf } = await start(...keys, makeKey('shared', 'RS256'))
    for (const key of keys) expect(await statusOf(good({}, { kid }, key))).toBe(200)
    expect(await statusOf(good({}, { kid }, makeKey('shared')))).toBe(401)
  })

  test('is refused where five would fit, and the log says so', async () => {
    const keys = makeKeys(5)
    const { statusOf, logLines } = await start(...keys)
    for (const key of keys) {
      expect(await statusOf(good({}, { kid: undefined }, key))).toBe(401)
      expect(await statusOf(good({}, {}, key))).toBe(200)
    }
    expect(logLines.join('')).toContain('more than 4 keys fit')
  })
})

describe('what is remembered of JWTs', () => {
  test('is each that was verified, by itself, so that it costs no promise', async () => {
    const { authenticate } = await startJwtService()
    const [token, other, expired] = [good(), good({ sub: 'another' }), good({ exp: 1 })] as const
    expect(authenticate.isKnown(token)).toBe(false)
    for (const each of [token, expired]) await authenticate(each, {})
    expect(authenticate(token, {})).toMatchObject({ name: 'jwt:gardener' })
    expect([token, other, expired].map(authenticate.isKnown)).toEqual([true, false, false])
    const unknown = authenticate(other, {})
    expect(unknown).toBeInstanceOf(Promise)
    expect(await unknown).toMatchObject({ name: 'jwt:another' })
    for (const garbage of ['x', 'a.b.c', '..', 'eyJhbGciOiJub25lIn0.e30.', 'x'.repeat(9_000)]) {
      expect(authenticate(garbage, {})).toBeUndefined()
    }
  })

  test('is 10,000 of them: one more, and the oldest must be verified again', async () => {
    const { authenticate } = await startJwtService()
    const tokens = Array.from({ length: 10_000 }, (_, n) => good({ sub: `${n}` }))
    const oldest = good({ sub: 'oldest' })
    await authenticate(oldest, {})
    // Of a hundred at once none waits in vain.
    for (let from = 0; from < 9_900; from += 100) {
      await Promise.all(tokens.slice(from, from + 100).map((token) => authenticate(token, {})))
    }
    for (const token of tokens.slice(9_900, -1)) await authenticate(token, {})
    expect([oldest, ...tokens].filter(authenticate.isKnown)).toEqual([
      oldest,
      ...tokens.slice(0, -1),
    ])
    await authenticate(tokens.at(-1) ?? '', {})
    expect([oldest, ...tokens].filter(authenticate.isKnown)).toEqual(tokens)
  })
})
