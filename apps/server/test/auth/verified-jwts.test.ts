import { expect, test } from 'vitest'
import { parseKeySet } from '../../src/auth/key-set.ts'
import { createVerifiedJwts } from '../../src/auth/verified-jwts.ts'

test('ten thousand verified JWTs are kept, and the least recently used one is forgotten', async () => {
  const keys = await parseKeySet('{"keys":[]}', ['ES256'])
  const jwts = createVerifiedJwts()
  const add = (name: string, expiresAt: number) =>
    jwts.add(name, { token: { id: name, name }, expiresAt, keys })
  for (let n = 0; n < 10_000; n++) add(`${n}`, 1)
  // Verified again, it replaces what was known of it.
  add('9999', 2)
  expect(jwts.find('9999')?.expiresAt).toBe(2)
  expect(jwts.find('0')?.token.name).toBe('0')
  add('one more', 1)
  expect(jwts.find('1')).toBeUndefined()
  for (const name of ['0', '2', '9999', 'one more']) expect(jwts.find(name)).toBeDefined()
})
