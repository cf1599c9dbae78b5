import type { NewPlant } from '@plant-store/contract'
import { expect, test } from 'vitest'
import { sizeFor } from '../../src/postgres/plants.ts'
import { readRows } from './served-database.ts'
import { newDatabase, openStoreAt, usePostgres } from './use-postgres.ts'

const postgres = usePostgres()

test('a batch of any size fits a statement of one of 64 sizes, which is at most an eighth more', () => {
  const batches = Array.from({ length: 1024 }, (_, index) => index + 1)
  for (const plants of batches) {
    expect(sizeFor(plants)).toBeGreaterThanOrEqual(plants)
    expect(sizeFor(plants)).toBeLessThanOrEqual(plants * 1.125)
  }
  expect(new Set(batches.map(sizeFor)).size).toBe(64)
})

test.each([1, 9, 65, 1000])('%i plants at once are stored to the letter', async (size) => {
  const databaseUrl = await newDatabase(postgres)
  const store = await openStoreAt(databaseUrl)
  const plants: NewPlant[] = Array.from({ length: size }, (_, index) => {
    const id = BigInt(index % 2 === 0 ? index : -index)
    const plant = { id, name: `plant ${id}` }
    return index % 3 === 0 ? plant : { ...plant, tag: 'indoor' }
  })
  const outcomes = await Promise.all(plants.map((plant) => store.plants.create(plant)))
  expect(new Set(outcomes)).toEqual(new Set(['created']))
  const expected = plants.map(({ id, name, tag }) => ({ id: `${id}`, name, tag: tag ?? null }))
  expect(new Set(await readRows(databaseUrl))).toEqual(new Set(expected))
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
