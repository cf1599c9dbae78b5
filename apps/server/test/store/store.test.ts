import { join } from 'node:path'
import type { NewPlant } from '@plant-store/contract'
import { INT64_MAX, INT64_MIN } from '@plant-store/contract'
import { describe, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { engineOf } from '../../src/engines.ts'
import { StoreUnavailableError } from '../../src/store/store.ts'
import { readRows } from '../postgres/served-database.ts'
import { newDatabase, usePostgres } from '../postgres/use-postgres.ts'
import { tokenRecord } from '../wire/harness.ts'

const postgres = usePostgres()

/** The URL of an empty database, made for one test. */
const engines = {
  SQLite: async () => `sqlite:${join(temporaryFolder(), 'plants.db')}`,
  PostgreSQL: () => newDatabase(postgres),
}

const fern: NewPlant = { id: 7n, name: 'Fern', tag: 'indoor' }
const bare: NewPlant = { id: 7n, name: 'Fern' }

const token = tokenRecord({
  secretSha256: new Uint8Array(32).fill(9),
  createdAt: 1_700_000_000_000,
  expiresAt: 1_800_000_000_000,
})

describe.each(Object.entries(engines))('a store in %s', (_engine, makeDatabase) => {
  /** How to open the store of a new database, and to read it past that. */
  async function createDatabase() {
    const url = await makeDatabase()
    const { open, snapshot } = engineOf(url)
    return { open: () => open({ allowDataLoss: false }), snapshot, readPlants: () => readRows(url) }
  }

  /** A store that is open until the test has finished. */
  async function openStore() {
    const database = await createDatabase()
    let store = await database.open()
    onTestFinished(() => store.close())
    const create = (plant: NewPlant) => store.plants.create(plant)
    /** Closes the store and opens it again. */
    const reopen = async () => {
      await store.close()
      store = await database.open()
      return store
    }
    return { ...database, store, tokens: store.tokens, create, reopen }
  }

  /** So many plants with the ids from 0 up. */
  function plantsOf(count: number): NewPlant[] {
    return Array.from({ length: count }, (_, index) => {
      const plant = { id: BigInt(index), name: `plant ${index}` }
      return index % 3 === 0 ? plant : { ...plant, tag: `tag ${index}` }
    })
  }

  test.each<[difference: string, first: NewPlant, second: NewPlant]>([
    ['another name', fern, { ...fern, name: 'Moss' }],
    ['another tag', fern, { ...fern, tag: 'outdoor' }],
    ['name and tag exchanged', fern, { id: 7n, name: 'indoor', tag: 'Fern' }],
    ['no tag instead of a tag', fern, bare],
    ['a tag instead of no tag', bare, fern],
    ['an empty tag instead of no tag', bare, { ...bare, tag: '' }],
    ['no tag instead of an empty tag', { ...bare, tag: '' }, bare],
    ['the name in another case', bare, { ...bare, name: 'FERN' }],
    ['a space after the name', bare, { ...bare, name: 'Fern ' }],
    ['a byte order mark before the name', bare, { ...bare, name: '\ufeffFern' }],
    ['NFD instead of NFC', { ...bare, name: '\u00e9' }, { ...bare, name: 'e\u0301' }],
  ])('the same id with %s is taken, and what is stored stays', async (_what, first, second) => {
    const { create, readPlants } = await openStore()
    expect(await create(first)).toBe('created')
    expect(await create(second)).toBe('id_taken')
    expect(await create({ ...first })).toBe('already_there')
    expect(await readPlants()).toEqual([{ tag: null, ...first }])
  })

  test('every id of int64 keeps every digit', async () => {
    const { create, readPlants } = await openStore()
    const ids = [INT64_MIN, INT64_MIN + 1n, -(2n ** 53n) - 1n, -1n, 0n, 2n ** 53n, 2n ** 53n + 1n]
    ids.push(INT64_MAX - 1n, INT64_MAX)
    for (const id of ids) await create({ id, name: String(id) })
    const expected = ids.map((id) => ({ id, name: String(id), tag: null }))
    expect(await readPlants()).toEqual(expected)
  })

  test.each([
    ['quotes and SQL', `Robert'); DROP TABLE plants; --"`],
    ['control characters', 'a\u0001\u001b[31m\r\n\t\u007f'],
    ['text beyond the basic plane', '🌿\u{10ffff}\ufffe\uffff'],
    ['composed and decomposed forms', 'é e\u0301 \u202e \u200d'],
    ['60,000 characters', 'fern '.repeat(12_000)],
    ['spaces around', '  fern  '],
  ])('%s come back unchanged', async (_what, text) => {
    const { create, readPlants } = await openStore()
    const plant = { id: 1n, name: text, tag: text }
    expect(await create(plant)).toBe('created')
    expect(await create(plant)).toBe('already_there')
    expect(await readPlants()).toEqual([plant])
  })

  test('of fifty racing creates of one id with two contents exactly one content wins', async () => {
    const { create, readPlants } = await openStore()
    const names = Array.from({ length: 50 }, (_, index) => (index % 2 ? 'Fern' : 'Moss'))
    const outcomes = await Promise.all(names.map((name) => create({ id: 1n, name })))
    const [stored] = await readPlants()
    expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(1)
    const isTaken = outcomes.map((outcome) => outcome === 'id_taken')
    expect(isTaken).toEqual(names.map((name) => name !== stored?.name))
  })

  test('a conflict inside a commit leaves its neighbours stored', async () => {
    const { create, readPlants } = await openStore()
    await create({ id: 50n, name: 'taken before' })
    const outcomes = await Promise.all(plantsOf(100).map(create))
    expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(99)
    expect(outcomes[50]).toBe('id_taken')
    expect(await readPlants()).toHaveLength(100)
  })

  test('more plants than one commit takes are all stored, each with its own outcome', async () => {
    const { create, readPlants } = await openStore()
    const plants = plantsOf(3000)
    expect(new Set(await Promise.all(plants.map(create)))).toEqual(new Set(['created']))
    expect(await readPlants()).toEqual(plants.map((plant) => ({ tag: null, ...plant })))
  })

  test('a snapshot has what was there when it was opened, in id order, whatever is created', async () => {
    const { create, snapshot } = await openStore()
    const plants = plantsOf(250)
    await Promise.all(plants.toReversed().map(create))
    const { batches, close } = await snapshot()
    await create({ id: -1n, name: 'later' })
    const read: NewPlant[] = []
    for await (const batch of batches) {
      read.push(...batch)
      await create({ id: 1_000n + BigInt(read.length), name: 'later' })
    }
    await close()
    expect(read).toEqual(plants)
  })

  test('closing commits what waits and refuses what comes after', async () => {
    const { open, readPlants } = await createDatabase()
    const store = await open()
    const waiting = plantsOf(20).map((plant) => store.plants.create(plant))
    const closed = store.close()
    await expect(store.plants.create(fern)).rejects.toThrow(StoreUnavailableError)
    await closed
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['created']))
    expect(await readPlants()).toHaveLength(20)
  })

  test('a store counts its plants up to a bound, and is ready without any', async () => {
    const { store, create } = await openStore()
    expect(await store.countPlants(2)).toBe(0)
    expect(await store.isReady()).toBe(true)
    await create(fern)
    expect(await store.countPlants(2)).toBe(1)
    expect(await store.countPlants(1)).toBe(1)
    await create({ ...fern, id: fern.id + 1n })
    expect(await store.countPlants(1)).toBe(1)
  })

  test('a store knows when it was made, after a restart too', async () => {
    const { store, reopen } = await openStore()
    const { createdAt } = await store.measure()
    expect(Math.abs(Date.now() - createdAt)).toBeLessThan(600_000)
    expect((await (await reopen()).measure()).createdAt).toBe(createdAt)
  })

  test('two stores over one database agree on every id', async () => {
    const database = await createDatabase()
    const stores = [await database.open(), await database.open()]
    onTestFinished(async () => {
      for (const store of stores) await store.close()
    })
    const rivals = stores.flatMap(({ plants }, index) =>
      plantsOf(100).map((plant) => plants.create({ ...plant, name: `by ${index}` })),
    )
    const outcomes = await Promise.all(rivals)
    expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(100)
    expect(outcomes.filter((outcome) => outcome === 'id_taken')).toHaveLength(100)
  })

  test('a token is found by its id, with all of its fields', async () => {
    const { tokens } = await openStore()
    const forever = { ...token, id: 'ffffffffffff', expiresAt: undefined, createdAt: 1 }
    await tokens.add(token)
    await tokens.add(forever)
    expect(await tokens.find(token.id)).toEqual(token)
    expect(await tokens.find('000000000000')).toBeUndefined()
    expect(await tokens.list()).toEqual([forever, token])
  })

  test('a token is revoked once', async () => {
    const { tokens } = await openStore()
    await tokens.add(token)
    expect(await tokens.revoke(token.id, 5)).toBe(true)
    expect(await tokens.revoke(token.id, 6)).toBe(false)
    expect(await tokens.revoke('000000000000', 6)).toBe(false)
    expect((await tokens.find(token.id))?.revokedAt).toBe(5)
  })

  test('a replaced token ends at the given time unless it ends sooner', async () => {
    const { tokens } = await openStore()
    const successor = { ...token, id: 'aaaaaaaaaaaa' }
    await tokens.add(token)
    await tokens.replace(token.id, 1_750_000_000_000, successor)
    expect((await tokens.find(token.id))?.expiresAt).toBe(1_750_000_000_000)
    expect(await tokens.find(successor.id)).toEqual(successor)
    await tokens.replace(token.id, 1_790_000_000_000, { ...token, id: 'bbbbbbbbbbbb' })
    expect((await tokens.find(token.id))?.expiresAt).toBe(1_750_000_000_000)
  })

  test('a last use is kept across a restart', async () => {
    const { tokens, reopen } = await openStore()
    await tokens.add(token)
    await tokens.markUsed(token.id, 1_700_000_500_000)
    const again = await reopen()
    expect((await again.tokens.find(token.id))?.lastUsedAt).toBe(1_700_000_500_000)
  })
})
