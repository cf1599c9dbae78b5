import { expect, test } from 'vitest'
import { claims, good, someKey, startJwtService } from './jwt-service.ts'
import { signJwt } from './sign-jwt.ts'

const strange: unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e308, '', 'x', '\u0000', '\ud800', [], {}, [null]],
  ...[['b64'], ['ES256'], { toString: 'x' }, '__proto__', 'constructor', 'x'.repeat(2000)],
]

/** A caller may only learn whether the JWT is good: no value causes any other error. */
test('whatever a header or a claim holds, a JWT is accepted or refused', async () => {
  const { authenticate, logLines } = await startJwtService()
  const headers = [
    'alg',
    'kid',
    'typ',
    'cty',
    'crit',
    'b64',
    'jku',
    'jwk',
    'x5u',
    'x5t',
    'zip',
    'enc',
  ]
  const names = ['iss', 'aud', 'sub', 'exp', 'nbf', 'iat', 'jti', '__proto__', 'constructor']
  const accepted: string[] = []
  for (const value of strange) {
    const tokens = [
      ...headers.map((name) => [name, good({}, { [name]: value })] as const),
      ...names.map((name) => [name, good({ [name]: value })] as const),
    ]
    for (const [name, token] of tokens) {
      if ((await authenticate(token, {})) !== undefined) accepted.push(name)
    }
  }
  // Members that are not checked may hold anything; of the others only these were accepted.
  const anything = ['b64', 'cty', 'enc', 'jku', 'jwk', 'x5t', 'x5u', 'zip']
  const judged = new Set(accepted.filter((name) => !anything.includes(name)))
  expect([...judged].toSorted()).toEqual(
    ['__proto__', 'constructor', 'exp', 'iat', 'jti', 'nbf', 'sub'].toSorted(),
  )
  expect(logLines.filter((line) => JSON.parse(line).level >= 50)).toEqual([])
})

test('a name that stands twice counts as the last one, for signature and claims alike', async () => {
  const { statusOf } = await startJwtService()
  const twice = (name: string, first: unknown, text: string) =>
    text.replace('{', `{${JSON.stringify(name)}:${JSON.stringify(first)},`)
  const payload = JSON.stringify(claims())
  const header = JSON.stringify({ alg: 'ES256', kid: 'some' })
  expect(await statusOf(signJwt(someKey, twice('iss', 'other', payload), header))).toBe(200)
  expect(await statusOf(signJwt(someKey, payload, twice('alg', 'none', header)))).toBe(200)
  const last = `${payload.slice(0, -1)},"iss":"other"}`
  expect(await statusOf(signJwt(someKey, last, header))).toBe(401)
})
