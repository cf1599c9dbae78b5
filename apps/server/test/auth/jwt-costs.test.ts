import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { parseKeySet } from '../../src/auth/key-set.ts'
import { issueToken } from '../../src/auth/tokens.ts'
import { openConnection } from '../wire/raw-socket.ts'
import { plantText, post } from '../wire/request.ts'
import { Issuer } from './issuer.ts'
import { claims, good, MINUTE_MS, someKey, startJwtService } from './jwt-service.ts'
import { encodePart, makeKey, withExponent } from './sign-jwt.ts'

const thief = makeKey('some')

/** How many signatures were looked at and found wrong. */
function countForged(logLines: readonly string[]): number {
  const code = '"code":"ERR_JWS_SIGNATURE_VERIFICATION_FAILED"'
  return logLines.filter((line) => line.includes(code)).length
}

describe('while an issuer hangs', { timeout: 60_000 }, () => {
  test('JWTs that ask for its keys take an eighth of the requests in flight, and hold up nobody', async () => {
    const flags = { requestLimit: '200', failedCredentialLimit: '1' }
    const { issuer, create, store, statusOf, pass } = await startJwtService({ flags })
    const { text } = await issueToken(store, 'greenhouse', Number.POSITIVE_INFINITY)
    const known = good({ sub: 'known' })
    expect(await statusOf(known)).toBe(200)
    const asked = new Promise<void>((resolve) => {
      issuer.reply = () => resolve()
    })
    pass(MINUTE_MS)
    const replies: number[] = []
    const flood = Array.from({ length: 300 }, async (_, index) => {
      const reply = await create(good({}, { kid: `unknown${index}` }))
      replies.push(reply.status)
      return reply
    })
    await asked
    await expect.poll(() => replies.length, { timeout: 10_000 }).toBe(300 - 25)
    expect(new Set(replies)).toEqual(new Set([503]))
    for (const token of [text, known, good({ sub: 'new' })]) expect(await statusOf(token)).toBe(200)
    expect(replies).toHaveLength(300 - 25)
    await issuer.stop()
    // None of them was judged, so none counts as wrong.
    for (const { status, retryAfter } of await Promise.all(flood)) {
      expect({ status, retryAfter }).toEqual({ status: 503, retryAfter: expect.any(String) })
    }
  })
})

describe('a flood of forged JWTs', { timeout: 60_000 }, () => {
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
    const replies = await Promise.all(callers.map((caller) => caller.readReply()))
    for (const caller of callers) caller.destroy()
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([401, 429]))
    // Plus those that were being verified when the limit was reached.
    expect(countForged(logLines)).toBeLessThanOrEqual(5 + 2)
    expect(await statusOf(token)).toBe(200)
  })

  test('is looked at in turn: at most two at a time, and an eighth of the requests waits', async () => {
    const flags = { requestLimit: '80' }
    const { authenticate } = await startJwtService({ flags })
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

describe('a JWT that names no key of its own', { timeout: 60_000 }, () => {
  const keys = Array.from({ length: 5 }, (_, index) => makeKey(`key${index}`))

  test('is tried with four keys', async () => {
    const issuer = new Issuer(...keys.slice(0, 4), makeKey('rsa', 'RS256'))
    const { statusOf } = await startJwtService({ issuer })
    for (const key of keys.slice(0, 4)) {
      expect(await statusOf(good({}, { kid: undefined }, key))).toBe(200)
    }
  })

  test('is refused where five would fit, and the log says so', async () => {
    const { statusOf, logLines } = await startJwtService({ issuer: new Issuer(...keys) })
    for (const key of keys) {
      expect(await statusOf(good({}, { kid: undefined }, key))).toBe(401)
      expect(await statusOf(good({}, {}, key))).toBe(200)
    }
    expect(logLines.join('')).toContain('more than 4 keys fit')
  })
})

describe('an RSA key', { timeout: 60_000 }, () => {
  const key = makeKey('rsa', 'RS256')

  test.each([
    ['1', 'AQ', false],
    ['3', 'Aw', false],
    ['17', 'EQ', false],
    ['65535', '__8', false],
    ['65536', 'AQAA', false],
    ['65537', 'AQAB', true],
    ['65537 after a zero', 'AAEAAQ', true],
    ['65538', 'AQAC', false],
    ['4294967297', 'AQAAAAE', true],
    ['2^256 + 1', Buffer.from(`01${'0'.repeat(63)}1`, 'hex').toString('base64url'), false],
  ])('with the exponent %s is taken as it should be', async (_claim, exponent, isUsable) => {
    const { keySet } = new Issuer(withExponent(key, exponent))
    const { usable, ignored } = await parseKeySet(keySet)
    expect({ usable, ignored }).toEqual(
      isUsable ? { usable: ['rsa (RSA)'], ignored: [] } : { usable: [], ignored: ['rsa (RSA)'] },
    )
  })

  test('with the exponent 1 opens nothing, though everything is its own signature', async () => {
    const issuer = new Issuer(someKey, withExponent(key, 'AQ'))
    const { statusOf } = await startJwtService({ issuer })
    const data = `${encodePart({ alg: 'RS256', kid: 'rsa' })}.${encodePart(claims())}`
    // EMSA-PKCS1-v1_5 (RFC 8017 §9.2), which m^1 mod n leaves as it is.
    const info = Buffer.from('3031300d060960864801650304020105000420', 'hex')
    const digest = Buffer.concat([info, createHash('sha256').update(data).digest()])
    const padding = Buffer.alloc(256 - 3 - digest.length, 0xff)
    const encoded = Buffer.concat([Buffer.from([0, 1]), padding, Buffer.from([0]), digest])
    expect(await statusOf(`${data}.${encoded.toString('base64url')}`)).toBe(401)
  })
})
