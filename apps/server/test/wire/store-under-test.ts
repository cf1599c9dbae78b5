import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqliteStore } from '../../src/store/sqlite/sqlite.ts'
import type { Store } from '../../src/store/store.ts'

/** A plant as it lies in the database. */
export interface StoredPlant {
  readonly id: bigint
  readonly name: string
  readonly tag?: string
}

/** A real store that is new and empty, and a second way into its database that bypasses it. */
export interface StoreUnderTest {
  readonly store: Store
  /** Every plant, in id order, with each digit and each byte as the database holds it. */
  readPlants(): Promise<StoredPlant[]>
  removePlants(): Promise<void>
  /** Lets no commit end until the function that it gives is called. */
  holdCommits(): Promise<() => void>
  /** Runs a statement that the store knows nothing of. */
  execute(sql: string): Promise<void>
  close(): Promise<void>
}

export type OpenStoreUnderTest = (options: {
  readonly queueLimit: number
}) => Promise<StoreUnderTest>

// Fatal, so that the database must hold UTF-8; a byte order mark is text like any other.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function toPlant({ id, name, tag }: Record<string, unknown>): StoredPlant {
  const plant = { id: id as bigint, name: utf8.decode(name as Uint8Array) }
  return tag === null ? plant : { ...plant, tag: utf8.decode(tag as Uint8Array) }
}

/** A new SQLite file in a folder of its own, which goes with it. */
export const openSqliteFile: OpenStoreUnderTest = async ({ queueLimit }) => {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-wire-'))
  const path = join(folder, 'plants.db')
  const store = openSqliteStore({ path, queueLimit })
  // Not defensive, so that a test can break the file.
  const observer = new DatabaseSync(path, { defensive: false })
  const selectAll = observer.prepare(
    'SELECT id, CAST(name AS BLOB) AS name, CAST(tag AS BLOB) AS tag FROM plants ORDER BY id',
  )
  selectAll.setReadBigInts(true)
  return {
    store,
    readPlants: async () => selectAll.all().map(toPlant),
    removePlants: async () => observer.exec('DELETE FROM plants'),
    async holdCommits() {
      observer.exec('BEGIN IMMEDIATE')
      return () => observer.exec('ROLLBACK')
    },
    execute: async (sql: string) => observer.exec(sql),
    async close() {
      await store.close()
      observer.close()
      rmSync(folder, { recursive: true })
    },
  }
}

const openers: Readonly<Record<string, OpenStoreUnderTest>> = { sqlite: openSqliteFile }

/** Opens the engine that PLANT_STORE_TEST_DATABASE_URL names by its scheme: SQLite by default. */
export const openStoreUnderTest: OpenStoreUnderTest = (options) => {
  const [scheme = ''] = (process.env.PLANT_STORE_TEST_DATABASE_URL ?? 'sqlite:').split(':')
  const open = openers[scheme]
  if (open === undefined) throw new Error(`there is no store under test for ${scheme}:`)
  return open(options)
}
