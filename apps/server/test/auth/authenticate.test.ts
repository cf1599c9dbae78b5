import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createAuthenticate } from '../../src/auth/authenticate.ts'
import { createOpaqueToken } from '../../src/auth/opaque-token.ts'
import { openSqliteStore } from '../../src/engines/sqlite/sqlite.ts'
import type { TokenRecord } from '../../src/store/store.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const START = Date.UTC(2030, 0, 1)
const HOUR_MS = 3_600_000

/** A store with one token, a clock that the test turns, and the check of credentials over both. */
async function arrange(fields: Partial<TokenRecord> = {}) {
  const store = await openSqliteStore({
    path: join(temporaryFolder(), 'plants.db'),
    queueLimit: 10,
  })
  onTestFinished(() => store.close())
  const { text, id, secretSha256 } = createOpaqueToken()
  await store.tokens.add({
    id,
    name: 'greenhouse',
    secretSha256,
    createdAt: START,
    expiresAt: undefined,
    revokedAt: undefined,
    lastUsedAt: undefined,
    ...fields,
  })
  const clock = { time: START, age: 0 }
  const authenticate = createAuthenticate(store.tokens, {
    now: () => clock.time,
    monotonic: () => clock.age,
  })
  const connection = {}
  const isAccepted = async (token = text) => (await authenticate(token, connection)) !== undefined
  return { store, id, text, clock, isAccepted }
}

test('a token that was issued is accepted', async () => {
  const { isAccepted } = await arrange()
  expect(await isAccepted()).toBe(true)
})

test('a well-formed token that was never issued is refused', async () => {
  const { isAccepted } = await arrange()
  expect(await isAccepted(createOpaqueToken().text)).toBe(false)
})

test('the id of a token with another secret is refused', async () => {
  const { store, isAccepted } = await arrange()
  const { text, id } = createOpaqueToken()
  await store.tokens.add({
    ...((await store.tokens.list())[0] as TokenRecord),
    id,
    secretSha256: createOpaqueToken().secretSha256,
  })
  expect(await isAccepted(text)).toBe(false)
})

test('a token is refused from the moment of its expiry, remembered or not', async () => {
  const { clock, isAccepted } = await arrange({ expiresAt: START + 1000 })
  expect(await isAccepted()).toBe(true)
  clock.time = START + 999
  expect(await isAccepted()).toBe(true)
  clock.time = START + 1000
  expect(await isAccepted()).toBe(false)
})

test('a revocation elsewhere acts within 5 seconds', async () => {
  const { store, id, clock, isAccepted } = await arrange()
  expect(await isAccepted()).toBe(true)
  await store.tokens.revoke(id, START)
  clock.age = 4_999
  expect(await isAccepted()).toBe(false)
})

test('a clock that jumps back does not keep a revoked token alive', async () => {
  const { store, id, clock, isAccepted } = await arrange()
  expect(await isAccepted()).toBe(true)
  await store.tokens.revoke(id, START)
  clock.time = START - 24 * HOUR_MS
  clock.age = 4_999
  expect(await isAccepted()).toBe(false)
})

test('a token made after a refusal is accepted at once', async () => {
  const { store, isAccepted } = await arrange()
  const { text, id, secretSha256 } = createOpaqueToken()
  expect(await isAccepted(text)).toBe(false)
  const record = (await store.tokens.list())[0] as TokenRecord
  await store.tokens.add({ ...record, id, secretSha256 })
  expect(await isAccepted(text)).toBe(true)
})

test('the last use is kept to the hour', async () => {
  const { store, id, clock, isAccepted } = await arrange()
  const lastUse = async () => (await store.tokens.find(id))?.lastUsedAt
  await isAccepted()
  expect(await lastUse()).toBe(START)
  clock.time = START + HOUR_MS - 1
  clock.age = 10_000
  await isAccepted()
  expect(await lastUse()).toBe(START)
  clock.time = START + HOUR_MS
  clock.age = 20_000
  await isAccepted()
  expect(await lastUse()).toBe(START + HOUR_MS)
})
