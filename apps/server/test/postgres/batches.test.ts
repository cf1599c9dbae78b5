import type pg from 'pg'
import { describe, expect, test } from 'vitest'
import { sizeFor } from '../../src/postgres/plants.ts'
import { type CreateOutcome, StoreUnavailableError } from '../../src/store/store.ts'
import { readRows } from './served-database.ts'
import {
  nameOf,
  newDatabase,
  openSession,
  openStoreAt,
  usePostgres,
  WAITING_FOR_A_LOCK,
  waitForRow,
} from './use-postgres.ts'

const ROUNDS = 20
const IDS = 100

const postgres = usePostgres()

test('a batch of any size fits a statement of one of 64 sizes, which is at most an eighth more', () => {
  const batches = Array.from({ length: 1024 }, (_, index) => index + 1)
  for (const plants of batches) {
    expect(sizeFor(plants)).toBeGreaterThanOrEqual(plants)
    expect(sizeFor(plants)).toBeLessThanOrEqual(plants * 1.125)
  }
  expect(new Set(batches.map(sizeFor)).size).toBe(64)
})

test('each plant of a batch that was there already has a record of its own in the log', async () => {
  const databaseUrl = await newDatabase(postgres)
  await postgres.query(databaseUrl, 'CREATE EXTENSION pg_walinspect')
  const store = await openStoreAt(databaseUrl)
  const create = (ids: readonly bigint[]) =>
    Promise.all(ids.map((id) => store.plants.create({ id, name: 'Fern' })))
  await create([1n, 2n])
  const place = 'SELECT pg_current_wal_insert_lsn()::text AS place'
  const [before] = await postgres.query(databaseUrl, place)
  expect(await create([1n, 2n, 3n])).toEqual(['already_there', 'already_there', 'created'])
  const records = `SELECT FROM pg_get_wal_records_info($1, pg_current_wal_flush_lsn())
    WHERE resource_manager = 'LogicalMessage'`
  expect(await postgres.query(databaseUrl, records, [before?.place])).toHaveLength(2)
})

test('batches of two stores that overlap in opposite order neither fail nor deadlock', async () => {
  const databaseUrl = await newDatabase(postgres)
  const [one, other] = [await openStoreAt(databaseUrl), await openStoreAt(databaseUrl)]
  for (let round = 0; round < ROUNDS; round++) {
    const plants = Array.from({ length: IDS }, (_, index) => {
      const id = BigInt(round * IDS + index)
      return { id, name: `plant ${id}` }
    })
    const outcomes = await Promise.all([
      ...plants.map((plant) => one.plants.create(plant)),
      ...plants.toReversed().map((plant) => other.plants.create(plant)),
    ])
    expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(IDS)
  }
  const deadlocks = 'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()'
  expect(await postgres.query(databaseUrl, deadlocks)).toEqual([{ deadlocks: '0' }])
  expect(await readRows(databaseUrl)).toHaveLength(ROUNDS * IDS)
})

interface Conflict {
  readonly databaseUrl: string
  create(id: bigint, name?: string): Promise<CreateOutcome>
  /** Has inserted a plant with id 2 in a transaction that is open. */
  readonly other: pg.Client
  readonly observer: pg.Client
}

/** PostgreSQL's lock_not_available, to which the store comes within 2 s. */
function isLateForLock(error: unknown): boolean {
  return error instanceof StoreUnavailableError && Object(error.cause).code === '55P03'
}

/**
 * Does something while another program has a plant; all of it again, with a new database, where a
 * machine that is busy saw the store wait only after it had given up.
 */
async function whileLocked(work: (conflict: Conflict) => Promise<void>, level = 'read committed') {
  for (;;) {
    const databaseUrl = await newDatabase(postgres)
    const isolation = `SET default_transaction_isolation = '${level}'`
    await postgres.query(databaseUrl, `ALTER DATABASE ${nameOf(databaseUrl)} ${isolation}`)
    const store = await openStoreAt(databaseUrl)
    const [other, observer] = [await openSession(databaseUrl), await openSession(databaseUrl)]
    const create = (id: bigint, name = 'ours') => store.plants.create({ id, name })
    // The one that looks for a deadlock first is the one that is rolled back.
    await other.query("SET deadlock_timeout = '30s'")
    await other.query("BEGIN; INSERT INTO plants (id, name) VALUES (2, 'theirs')")
    try {
      return await work({ databaseUrl, create, other, observer })
    } catch (error) {
      if (!isLateForLock(error)) throw error
    }
  }
}

describe('a batch that runs into another program', () => {
  test('is repeated after a deadlock, and finds what the other one stored', () =>
    whileLocked(async ({ databaseUrl, create, other, observer }) => {
      const outcomes = Promise.all([create(1n), create(2n), create(3n)])
      await Promise.race([waitForRow(observer, WAITING_FOR_A_LOCK), outcomes])
      await other.query("INSERT INTO plants (id, name) VALUES (1, 'theirs')")
      await other.query('COMMIT')
      expect(await outcomes).toEqual(['id_taken', 'id_taken', 'created'])
      const names = (await readRows(databaseUrl)).map(({ id, name }) => `${id} ${name}`)
      expect(names).toEqual(['1 theirs', '2 theirs', '3 ours'])
    }))

  test.each(['repeatable read', 'serializable'])(
    'is repeated after a serialization failure at %s',
    (level) =>
      whileLocked(async ({ create, other, observer }) => {
        const outcomes = Promise.all([create(1n), create(2n, 'theirs')])
        await Promise.race([waitForRow(observer, WAITING_FOR_A_LOCK), outcomes])
        await other.query('COMMIT')
        expect(await outcomes).toEqual(['created', 'already_there'])
      }, level),
  )

  test('is never refused as unavailable once a part of it is committed', () =>
    whileLocked(async ({ databaseUrl, create, other, observer }) => {
      const locker = await openSession(databaseUrl)
      const created = [create(1n), create(2n)]
      const outcomes = Promise.allSettled(created)
      const failed = Promise.all(created)
      const isInserting = `${WAITING_FOR_A_LOCK} AND query LIKE 'INSERT%'`
      await Promise.race([waitForRow(observer, isInserting), failed])
      await locker.query('BEGIN')
      const locked = locker.query('LOCK TABLE plants IN ACCESS EXCLUSIVE MODE')
      const isLocking = 'SELECT 1 FROM pg_locks WHERE NOT granted AND mode ~ $$^Access$$'
      await Promise.race([waitForRow(observer, isLocking), failed])
      // From here on the table is locked again as soon as the store's first statement is done.
      await other.query('COMMIT')
      await locked
      const { pid, started } = await waitForRow(observer, WAITING_FOR_A_LOCK)
      await observer.query('SELECT pg_cancel_backend($1)', [pid])
      const sameWait = `${WAITING_FOR_A_LOCK} AND pid = ${pid} AND query_start::text = '${started}'`
      await waitForRow(observer, `SELECT 1 WHERE NOT EXISTS (${sameWait})`)
      await locker.query('COMMIT')
      const [first] = await outcomes
      const isStored = (await readRows(databaseUrl)).some(({ id }) => id === 1n)
      expect({ isTold: first?.status, isStored }).toEqual({ isTold: 'fulfilled', isStored: true })
    }))
})
