import { expect, test } from 'vitest'
import { openGiven } from './given-postgres.ts'
import { query } from './postgres-server.ts'
import { newDatabase, openStoreAt, usePostgres } from './use-postgres.ts'

const postgres = usePostgres()

test('the tests find a place of their own for each store in a given database, and leave nothing', async () => {
  const url = postgres.urlOf('postgres')
  const given = openGiven(url)
  const places = [await given.createDatabase(), await given.createDatabase()]
  for (const [index, place] of places.entries()) {
    const databaseUrl = await newDatabase({ ...postgres, createDatabase: async () => place })
    const store = await openStoreAt(databaseUrl)
    expect(await store.isEmpty()).toBe(true)
    await store.plants.create({ id: 7n, name: `of place ${index}` })
    expect(await query(place, 'SELECT name FROM plants')).toEqual([{ name: `of place ${index}` }])
  }
  await given.stop()
  expect(await query(url, "SELECT nspname FROM pg_namespace WHERE nspname ~ '^test_'")).toEqual([])
})
