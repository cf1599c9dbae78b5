import { describe, expect, test } from 'vitest'
import { StoreUnavailableError } from '../../src/store/store.ts'
import { openSession, WAITING_FOR_A_LOCK, waitForRow } from './sessions.ts'
import { newDatabase, openStoreAt, usePostgres } from './use-postgres.ts'

const ROUNDS = 20
const IDS = 100

const postgres = usePostgres()

function namesOf(databaseUrl: string): Promise<Record<string, unknown>[]> {
  return postgres.query(databaseUrl, 'SELECT id::text AS id, name FROM plants ORDER BY id')
}

test('batches of two stores that overlap in opposite order neither fail nor deadlock', async () => {
  const databaseUrl = await newDatabase(postgres)
  const stores = await Promise.all([openStoreAt(databaseUrl), openStoreAt(databaseUrl)])
  for (let round = 0; round < ROUNDS; round++) {
    const ids = Array.from({ length: IDS }, (_, index) => BigInt(round * IDS + index))
    const orders = [ids, ids.toReversed()]
    const outcomes = await Promise.all(
      stores.map((store, index) =>
        Promise.all(
          (orders[index] ?? []).map((id) => store.plants.create({ id, name: `plant ${id}` })),
        ),
      ),
    )
    const created = outcomes.flat().filter((outcome) => outcome === 'created')
    expect(created).toHaveLength(IDS)
  }
  const deadlocks = 'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()'
  expect(await postgres.query(databaseUrl, deadlocks)).toEqual([{ deadlocks: '0' }])
  expect(await namesOf(databaseUrl)).toHaveLength(ROUNDS * IDS)
})

/** PostgreSQL's lock_not_available, to which the store comes within 2 s. */
function isLateForLock(error: unknown): boolean {
  return error instanceof StoreUnavailableError && Object(error.cause).code === '55P03'
}

/**
 * Does something while a store waits for a lock; all of it again, with a new database, where a machine
 * that is busy saw the wait only after the store had given it up.
 */
async function whileLocked(work: (databaseUrl: string) => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await work(await newDatabase(postgres))
    } catch (error) {
      if (!isLateForLock(error)) throw error
    }
  }
}

describe('a batch that runs into another program', () => {
  test('is repeated after a deadlock, and finds what the other one stored', () =>
    whileLocked(async (databaseUrl) => {
      const store = await openStoreAt(databaseUrl)
      const other = await openSession(databaseUrl)
      const observer = await openSession(databaseUrl)
      // The one that looks for a deadlock first is the one that is rolled back.
      await other.query("SET deadlock_timeout = '30s'")
      await other.query('BEGIN')
      await other.query("INSERT INTO plants (id, name) VALUES (2, 'theirs')")
      const outcomes = Promise.all([
        store.plants.create({ id: 1n, name: 'ours' }),
        store.plants.create({ id: 2n, name: 'ours' }),
        store.plants.create({ id: 3n, name: 'ours' }),
      ])
      await Promise.race([waitForRow(observer, WAITING_FOR_A_LOCK), outcomes])
      await other.query("INSERT INTO plants (id, name) VALUES (1, 'theirs')")
      await other.query('COMMIT')
      expect(await outcomes).toEqual(['id_taken', 'id_taken', 'created'])
      const theirs = ['1', '2'].map((id) => ({ id, name: 'theirs' }))
      expect(await namesOf(databaseUrl)).toEqual([...theirs, { id: '3', name: 'ours' }])
    }))

  test.each(['repeatable read', 'serializable'])(
    'is repeated after a serialization failure at %s',
    (level) =>
      whileLocked(async (databaseUrl) => {
        const name = new URL(databaseUrl).pathname.slice(1)
        const isolation = `ALTER DATABASE ${name} SET default_transaction_isolation = '${level}'`
        await postgres.query(databaseUrl, isolation)
        const store = await openStoreAt(databaseUrl)
        const other = await openSession(databaseUrl)
        const observer = await openSession(databaseUrl)
        await other.query('BEGIN')
        await other.query("INSERT INTO plants (id, name) VALUES (2, 'theirs')")
        const outcomes = Promise.all([
          store.plants.create({ id: 1n, name: 'ours' }),
          store.plants.create({ id: 2n, name: 'theirs' }),
        ])
        await Promise.race([waitForRow(observer, WAITING_FOR_A_LOCK), outcomes])
        await other.query('COMMIT')
        expect(await outcomes).toEqual(['created', 'already_there'])
      }),
  )

  test('is never refused as unavailable once a part of it is committed', () =>
    whileLocked(async (databaseUrl) => {
      const store = await openStoreAt(databaseUrl)
      const [other, locker, observer] = [
        await openSession(databaseUrl),
        await openSession(databaseUrl),
        await openSession(databaseUrl),
      ]
      await other.query('BEGIN')
      await other.query("INSERT INTO plants (id, name) VALUES (2, 'theirs')")
      const created = [1n, 2n].map((id) => store.plants.create({ id, name: 'ours' }))
      const outcomes = Promise.allSettled(created)
      const isStoreWaiting = `${WAITING_FOR_A_LOCK} AND query LIKE`
      const failed = Promise.all(created)
      await Promise.race([waitForRow(observer, `${isStoreWaiting} 'INSERT%'`), failed])
      await locker.query('BEGIN')
      const locked = locker.query('LOCK TABLE plants IN ACCESS EXCLUSIVE MODE')
      const isLocking = 'SELECT 1 FROM pg_locks WHERE NOT granted AND mode ~ $$^Access$$'
      await Promise.race([waitForRow(observer, isLocking), failed])
      // From here on the table is locked again as soon as the store's first statement is done.
      await other.query('COMMIT')
      await locked
      const { pid, started } = await waitForRow(observer, WAITING_FOR_A_LOCK)
      await observer.query('SELECT pg_cancel_backend($1)', [pid])
      await waitForRow(
        observer,
        `SELECT 1 WHERE NOT EXISTS (${WAITING_FOR_A_LOCK}
        AND pid = ${pid} AND query_start::text = '${started}')`,
      )
      await locker.query('COMMIT')
      const [first] = await outcomes
      const stored = (await namesOf(databaseUrl)).map(({ id }) => id)
      expect({ isTold: first?.status, isStored: stored.includes('1') }).toEqual({
        isTold: 'fulfilled',
        isStored: true,
      })
    }))
})
