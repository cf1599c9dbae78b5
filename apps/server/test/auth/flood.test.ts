import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createAuthenticate } from '../../src/auth/authenticate.ts'
import { issueToken } from '../../src/auth/issue-token.ts'
import { createOpaqueToken } from '../../src/auth/opaque-token.ts'
import { openSqliteStore } from '../../src/engines/sqlite/sqlite.ts'
import { StoreUnavailableError } from '../../src/store/store.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/** A store that answers no question about a token until it is let. */
async function arrange() {
  const store = await openSqliteStore({
    path: join(temporaryFolder(), 'plants.db'),
    queueLimit: 10,
  })
  onTestFinished(() => store.close())
  const { text } = await issueToken(store, 'greenhouse', Number.POSITIVE_INFINITY)
  let gate = Promise.resolve()
  const find = async (id: string) => {
    await gate
    return store.tokens.find(id)
  }
  const authenticate = createAuthenticate({ ...store.tokens, find })
  return {
    text,
    authenticate,
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      gate = promise
      return resolve
    },
  }
}

test('of a flood of made-up tokens 256 wait for a slow store, and the others are answered 503', async () => {
  const { authenticate, hold } = await arrange()
  const release = hold()
  const checks = Array.from({ length: 1_000 }, async () =>
    authenticate(createOpaqueToken().text, {}),
  )
  const settled = Promise.allSettled(checks)
  release()
  const reasons = (await settled).flatMap((check) =>
    check.status === 'rejected' ? [check.reason] : [],
  )
  expect(reasons).toHaveLength(1_000 - 256)
  for (const reason of reasons) expect(reason).toBeInstanceOf(StoreUnavailableError)
})

test('the flood keeps out no token that was seen a moment ago', async () => {
  const { text, authenticate, hold } = await arrange()
  expect(await authenticate(text, {})).toBeDefined()
  const release = hold()
  const flood = Array.from({ length: 1_000 }, async () =>
    authenticate(createOpaqueToken().text, {}),
  )
  const settled = Promise.allSettled(flood)
  expect(await authenticate(text, {})).toBeDefined()
  release()
  await settled
})

test('a token is known once the store has had it, and after all were read', async () => {
  const { text, authenticate } = await arrange()
  expect(authenticate.isKnown(createOpaqueToken().text)).toBe(false)
  expect(authenticate.isKnown('plant_x')).toBe(false)
  await expect.poll(() => authenticate.isKnown(text)).toBe(true)
})
