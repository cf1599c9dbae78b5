import type { NewPlant } from '@plant-store/contract'
import { INT64_MAX, INT64_MIN } from '@plant-store/contract'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Store, StoreUnavailableError, type TokenRecord } from '../../src/store/store.ts'
import type { StoredPlant } from '../sqlite/sqlite-file.ts'

/** An empty database of some engine, made for one test and removed after it. */
export interface TestDatabase {
  open(): Promise<Store>
  /** What it holds, read past the store, in id order. */
  readPlants(): Promise<StoredPlant[]>
}

const fern: NewPlant = { id: 7n, name: 'Fern', tag: 'indoor' }

const token: TokenRecord = {
  id: '0123456789ab',
  name: 'greenhouse',
  secretSha256: new Uint8Array(32).fill(9),
  createdAt: 1_700_000_000_000,
  expiresAt: 1_800_000_000_000,
  revokedAt: undefined,
  lastUsedAt: undefined,
}

/** What a store means, whatever the engine: each engine's tests run all of this. */
export function describeStore(engine: string, createDatabase: () => Promise<TestDatabase>): void {
  async function openStore(): Promise<{ store: Store; database: TestDatabase }> {
    const database = await createDatabase()
    const store = await database.open()
    onTestFinished(() => store.close())
    return { store, database }
  }

  describe(`plants in ${engine}`, () => {
    test('a new plant is created and there to the letter', async () => {
      const { store, database } = await openStore()
      expect(await store.plants.create(fern)).toBe('created')
      expect(await database.readPlants()).toEqual([{ id: 7n, name: 'Fern', tag: 'indoor' }])
    })

    test('the same plant again is already there', async () => {
      const { store, database } = await openStore()
      await store.plants.create(fern)
      expect(await store.plants.create({ ...fern })).toBe('already_there')
      expect(await database.readPlants()).toHaveLength(1)
    })

    test.each<[string, NewPlant]>([
      ['another name', { ...fern, name: 'Moss' }],
      ['another tag', { ...fern, tag: 'outdoor' }],
      ['no tag', { id: 7n, name: 'Fern' }],
      ['an empty tag', { ...fern, tag: '' }],
      ['the name in another Unicode form', { ...fern, name: 'Fe\u0301rn' }],
    ])('the same id with %s is taken, and what is stored stays', async (_difference, other) => {
      const { store, database } = await openStore()
      await store.plants.create(fern)
      expect(await store.plants.create(other)).toBe('id_taken')
      expect(await database.readPlants()).toEqual([{ id: 7n, name: 'Fern', tag: 'indoor' }])
    })

    test('an absent tag and an empty tag are different plants', async () => {
      const { store } = await openStore()
      await store.plants.create({ id: 1n, name: 'Fern' })
      await store.plants.create({ id: 2n, name: 'Fern', tag: '' })
      expect(await store.plants.create({ id: 1n, name: 'Fern' })).toBe('already_there')
      expect(await store.plants.create({ id: 1n, name: 'Fern', tag: '' })).toBe('id_taken')
      expect(await store.plants.create({ id: 2n, name: 'Fern' })).toBe('id_taken')
    })

    test('every id of int64 keeps every digit', async () => {
      const { store, database } = await openStore()
      const ids = [INT64_MIN, INT64_MIN + 1n, -(2n ** 53n) - 1n, -1n, 0n, 2n ** 53n, 2n ** 53n + 1n]
      ids.push(INT64_MAX - 1n, INT64_MAX)
      for (const id of ids) await store.plants.create({ id, name: String(id) })
      const stored = await database.readPlants()
      expect(stored.map(({ id }) => id)).toEqual(ids)
      expect(stored.map(({ name }) => name)).toEqual(ids.map(String))
    })

    test.each([
      ['quotes and SQL', `Robert'); DROP TABLE plants; --"`],
      ['control characters', 'a\u0001\u001b[31m\r\n\t\u007f'],
      ['text beyond the basic plane', '🌿\u{10ffff}\ufffe\uffff'],
      ['composed and decomposed forms', 'é e\u0301 \u202e \u200d'],
      ['60,000 characters', 'fern '.repeat(12_000)],
      ['spaces around', '  fern  '],
    ])('%s come back unchanged', async (_what, text) => {
      const { store, database } = await openStore()
      expect(await store.plants.create({ id: 1n, name: text, tag: text })).toBe('created')
      expect(await store.plants.create({ id: 1n, name: text, tag: text })).toBe('already_there')
      expect(await database.readPlants()).toEqual([{ id: 1n, name: text, tag: text }])
    })

    test('of fifty racing creates of one id with two contents exactly one content wins', async () => {
      const { store, database } = await openStore()
      const names = Array.from({ length: 50 }, (_, index) => (index % 2 ? 'Fern' : 'Moss'))
      const outcomes = await Promise.all(names.map((name) => store.plants.create({ id: 1n, name })))
      const [stored] = await database.readPlants()
      expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(1)
      names.forEach((name, index) => {
        const isWinner = name === stored?.name
        expect(outcomes[index] === 'id_taken').toBe(!isWinner)
      })
    })

    test('a conflict inside a commit leaves its neighbours stored', async () => {
      const { store, database } = await openStore()
      await store.plants.create({ id: 50n, name: 'taken before' })
      const creates = Array.from({ length: 100 }, (_, id) => ({ id: BigInt(id), name: 'new' }))
      const outcomes = await Promise.all(creates.map((plant) => store.plants.create(plant)))
      expect(
        outcomes.map((outcome, id) => [id, outcome]).filter(([, o]) => o !== 'created'),
      ).toEqual([[50, 'id_taken']])
      expect(await database.readPlants()).toHaveLength(100)
    })

    test('more plants than one commit takes are all stored, each with its own outcome', async () => {
      const { store, database } = await openStore()
      const creates = Array.from({ length: 3000 }, (_, id) => ({
        id: BigInt(id),
        name: `plant ${id}`,
      }))
      const outcomes = await Promise.all(creates.map((plant) => store.plants.create(plant)))
      expect(new Set(outcomes)).toEqual(new Set(['created']))
      const stored = await database.readPlants()
      expect(stored.map(({ name }) => name)).toEqual(creates.map(({ name }) => name))
    })

    test('after a restart a repeat is already there and other content is refused', async () => {
      const database = await createDatabase()
      const first = await database.open()
      await first.plants.create(fern)
      await first.close()
      const second = await database.open()
      onTestFinished(() => second.close())
      expect(await second.plants.create(fern)).toBe('already_there')
      expect(await second.plants.create({ ...fern, name: 'Moss' })).toBe('id_taken')
    })

    test('closing commits what waits and refuses what comes after', async () => {
      const database = await createDatabase()
      const store = await database.open()
      const waiting = Array.from({ length: 20 }, (_, id) =>
        store.plants.create({ id: BigInt(id), name: 'in time' }),
      )
      const closed = store.close()
      await expect(store.plants.create({ id: 99n, name: 'too late' })).rejects.toThrow(
        StoreUnavailableError,
      )
      await closed
      expect(new Set(await Promise.all(waiting))).toEqual(new Set(['created']))
      expect(await database.readPlants()).toHaveLength(20)
    })

    test('a store is empty until the first plant, and ready', async () => {
      const { store } = await openStore()
      expect(await store.isEmpty()).toBe(true)
      expect(await store.isReady()).toBe(true)
      await store.plants.create(fern)
      expect(await store.isEmpty()).toBe(false)
    })

    test('two stores over one database agree on every id', async () => {
      const database = await createDatabase()
      const stores = [await database.open(), await database.open()]
      onTestFinished(async () => {
        for (const store of stores) await store.close()
      })
      const outcomes = await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          stores[index % 2]?.plants.create({ id: BigInt(index >> 1), name: `by ${index % 2}` }),
        ),
      )
      expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(100)
      expect(outcomes.filter((outcome) => outcome === 'id_taken')).toHaveLength(100)
    })
  })

  describe(`tokens in ${engine}`, () => {
    test('a token is found by its id, with all of its fields', async () => {
      const { store } = await openStore()
      const forever = { ...token, id: 'ffffffffffff', expiresAt: undefined, createdAt: 1 }
      await store.tokens.add(token)
      await store.tokens.add(forever)
      expect(await store.tokens.find(token.id)).toEqual(token)
      expect(await store.tokens.find('000000000000')).toBeUndefined()
      expect(await store.tokens.list()).toEqual([forever, token])
    })

    test('a token is revoked once', async () => {
      const { store } = await openStore()
      await store.tokens.add(token)
      expect(await store.tokens.revoke(token.id, 5)).toBe(true)
      expect(await store.tokens.revoke(token.id, 6)).toBe(false)
      expect(await store.tokens.revoke('000000000000', 6)).toBe(false)
      expect((await store.tokens.find(token.id))?.revokedAt).toBe(5)
    })

    test('a replaced token ends at the given time unless it ends sooner', async () => {
      const { store } = await openStore()
      const successor = { ...token, id: 'aaaaaaaaaaaa' }
      await store.tokens.add(token)
      await store.tokens.replace(token.id, 1_750_000_000_000, successor)
      expect((await store.tokens.find(token.id))?.expiresAt).toBe(1_750_000_000_000)
      expect(await store.tokens.find(successor.id)).toEqual(successor)
      await store.tokens.replace(token.id, 1_790_000_000_000, { ...token, id: 'bbbbbbbbbbbb' })
      expect((await store.tokens.find(token.id))?.expiresAt).toBe(1_750_000_000_000)
    })

    test('a last use is kept across a restart', async () => {
      const database = await createDatabase()
      const first = await database.open()
      await first.tokens.add(token)
      await first.tokens.markUsed(token.id, 1_700_000_500_000)
      await first.close()
      const second = await database.open()
      onTestFinished(() => second.close())
      expect((await second.tokens.find(token.id))?.lastUsedAt).toBe(1_700_000_500_000)
    })
  })
}
