import { expect, test } from 'vitest'
import { parseKeySet } from '../../src/auth/key-set.ts'
import { createVerifiedJwts, type VerifiedJwt } from '../../src/auth/verified-jwts.ts'

const keys = await parseKeySet('{"keys":[]}', ['ES256'])

function verified(name: string): VerifiedJwt {
  return { token: { id: name, name }, expiresAt: 1, keys }
}

test('verified JWTs are bounded, and the least recently used one is forgotten', () => {
  const jwts = createVerifiedJwts(3)
  for (const name of ['a', 'b', 'c']) jwts.add(name, verified(name))
  expect(jwts.find('a')).toEqual(verified('a'))
  jwts.add('d', verified('d'))
  expect(['a', 'b', 'c', 'd'].map((name) => jwts.find(name)?.token.name)).toEqual([
    'a',
    undefined,
    'c',
    'd',
  ])
})

test('a JWT that is verified again replaces what was known of it', () => {
  const jwts = createVerifiedJwts(2)
  for (const name of ['a', 'b']) jwts.add(name, verified(name))
  jwts.add('b', { ...verified('b'), expiresAt: 2 })
  expect(jwts.find('a')).toEqual(verified('a'))
  expect(jwts.find('b')?.expiresAt).toBe(2)
})

test('ten thousand are kept by default', () => {
  const jwts = createVerifiedJwts()
  for (let n = 0; n <= 10_000; n++) jwts.add(`${n}`, verified(`${n}`))
  expect(jwts.find('0')).toBeUndefined()
  expect(jwts.find('1')).toBeDefined()
})
