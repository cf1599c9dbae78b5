import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { createAuthenticate } from '../../src/auth/token-cache.ts'
import { createOpaqueToken } from '../../src/auth/tokens.ts'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { StoreUnavailableError, type TokenRecord } from '../../src/store/store.ts'
import { tokenRecord } from '../wire/harness.ts'

const START = Date.UTC(2030, 0, 1)
const HOUR_MS = 3_600_000

/** A store with one token, clocks that the test turns, and the check of credentials over both. */
async function arrange(fields: Partial<TokenRecord> = {}) {
  const store = await openSqliteStore({ path: join(temporaryFolder(), 'plants.db') })
  onTestFinished(() => store.close())
  async function add(token = createOpaqueToken(), differences: Partial<TokenRecord> = {}) {
    const { id, text, secretSha256 } = token
    await store.tokens.add(tokenRecord({ id, secretSha256, createdAt: START, ...differences }))
    return { id, text }
  }
  const { id, text } = await add(undefined, fields)
  const clock = { time: START, age: 0 }
  const clocks = { now: () => clock.time, monotonic: () => clock.age }
  // What a store that is slow waits for.
  const slow = { until: Promise.resolve() }
  const find = (id: string) => slow.until.then(() => store.tokens.find(id))
  const authenticate = createAuthenticate({ ...store.tokens, find }, clocks)
  const connection = {}
  const isAccepted = async (token = text) => (await authenticate(token, connection)) !== undefined
  return { store, add, id, text, clock, slow, authenticate, isAccepted }
}

test('a token is refused from the moment of its expiry, remembered or not', async () => {
  const { clock, isAccepted } = await arrange({ expiresAt: START + 1000 })
  expect(await isAccepted()).toBe(true)
  clock.time = START + 999
  expect(await isAccepted()).toBe(true)
  clock.time = START + 1000
  expect(await isAccepted()).toBe(false)
})

test.each([
  ['a revocation elsewhere acts within 5 seconds', START],
  ['a clock that jumps back does not keep a revoked token alive', START - 24 * HOUR_MS],
])('%s', async (_claim, later) => {
  const { store, id, clock, isAccepted } = await arrange()
  expect(await isAccepted()).toBe(true)
  await store.tokens.revoke(id, START)
  clock.time = later
  clock.age = 4_999
  expect(await isAccepted()).toBe(false)
})

test('a token made after a refusal is accepted at once', async () => {
  const { add, isAccepted } = await arrange()
  const token = createOpaqueToken()
  expect(await isAccepted(token.text)).toBe(false)
  await add(token)
  expect(await isAccepted(token.text)).toBe(true)
})

test('the last use is kept to the hour', async () => {
  const { store, id, clock, isAccepted } = await arrange()
  const lastUseAt = async (time: number, age: number) => {
    Object.assign(clock, { time, age })
    await isAccepted()
    return (await store.tokens.find(id))?.lastUsedAt
  }
  expect(await lastUseAt(START, 0)).toBe(START)
  expect(await lastUseAt(START + HOUR_MS - 1, 10_000)).toBe(START)
  expect(await lastUseAt(START + HOUR_MS, 20_000)).toBe(START + HOUR_MS)
})

test('of a flood of made-up tokens 256 wait for a slow store, the others are answered 503, and a token seen a moment ago is kept out by none', async () => {
  const { text, slow, authenticate, isAccepted } = await arrange()
  expect(await isAccepted()).toBe(true)
  const { promise, resolve: release } = Promise.withResolvers<void>()
  slow.until = promise
  const checks = Array.from({ length: 1_000 }, async () =>
    authenticate(createOpaqueToken().text, {}),
  )
  expect(await authenticate(text, {})).toBeDefined()
  release()
  const settled = await Promise.allSettled(checks)
  const reasons = settled.flatMap((check) => (check.status === 'rejected' ? [check.reason] : []))
  expect(reasons).toHaveLength(1_000 - 256)
  for (const reason of reasons) expect(reason).toBeInstanceOf(StoreUnavailableError)
})

test('a token is 256 random bits and never made twice', () => {
  const texts = Array.from({ length: 1_000 }, () => createOpaqueToken().text)
  for (const text of texts) expect(text).toMatch(/^plant_[0-9a-f]{12}_[\w-]{43}[0-9a-f]{8}$/)
  expect(new Set(texts.map((text) => text.slice(19, 62))).size).toBe(1_000)
})
