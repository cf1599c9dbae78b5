import { randomUUID } from 'node:crypto'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { inject } from 'vitest'
import { openStore } from '../../src/engines.ts'
import { migratePostgresDatabase } from '../../src/postgres/migrations.ts'
import type { Store } from '../../src/store/store.ts'

/** A plant as it lies in the database. */
export interface StoredPlant {
  readonly id: bigint
  readonly name: string
  readonly tag?: string
}

/** A real database that is new and empty, and a way into it that bypasses the server. */
export interface DatabaseUnderTest {
  /** The setting that leads the server to it. */
  readonly url: string
  /** A folder of its own, whose path has no link in it. */
  readonly folder: string
  /** Opens it as another process of the program would, for as long as `use` takes. */
  withStore<Result>(use: (store: Store) => Promise<Result>): Promise<Result>
  /** Every plant, in id order, with each digit and each byte as the database holds it. */
  readPlants(): Promise<StoredPlant[]>
  removePlants(): Promise<void>
  /** Lets no commit end until the function that it gives is called. */
  holdCommits(): Promise<() => void>
  /** Runs a statement that the store knows nothing of. */
  execute(sql: string): Promise<void>
  close(): Promise<void>
}

function makeFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'plant-store-wire-')))
}

// Fatal, so that the database must hold UTF-8; a byte order mark is text like any other.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function toPlant({ id, name, tag }: Record<string, unknown>): StoredPlant {
  const plant = { id: id as bigint, name: utf8.decode(name as Uint8Array) }
  return tag === null ? plant : { ...plant, tag: utf8.decode(tag as Uint8Array) }
}

async function withStoreOf<Result>(
  databaseUrl: string,
  use: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openStore({ databaseUrl, allowDataLoss: false })
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

/** A new SQLite file. */
export async function makeSqliteFile(): Promise<DatabaseUnderTest> {
  const folder = makeFolder()
  const path = join(folder, 'plants.db')
  const url = `sqlite:${path}`
  await withStoreOf(url, async () => {})
  // Not defensive, so that a test can break the file; patient, because the server writes when it
  // starts and when a token is used.
  const observer = new DatabaseSync(path, { defensive: false, timeout: 5_000 })
  const selectAll = observer.prepare(
    'SELECT id, CAST(name AS BLOB) AS name, CAST(tag AS BLOB) AS tag FROM plants ORDER BY id',
  )
  selectAll.setReadBigInts(true)
  return {
    url,
    folder,
    withStore: (use) => withStoreOf(url, use),
    readPlants: async () => selectAll.all().map(toPlant),
    removePlants: async () => observer.exec('DELETE FROM plants'),
    async holdCommits() {
      observer.exec('BEGIN IMMEDIATE')
      return () => observer.exec('ROLLBACK')
    },
    execute: async (sql: string) => observer.exec(sql),
    async close() {
      observer.close()
      rmSync(folder, { recursive: true })
    },
  }
}

interface StoredRow {
  readonly id: string
  readonly name: Uint8Array
  readonly tag: Uint8Array | null
}

/** A new database of the PostgreSQL that the URL leads to. */
async function makePostgresDatabase(serverUrl: string): Promise<DatabaseUnderTest> {
  const folder = makeFolder()
  const server = new pg.Client(serverUrl)
  await server.connect()
  const name = `wire_${randomUUID().replaceAll('-', '')}`
  await server.query(`CREATE DATABASE ${name}`)
  const url = Object.assign(new URL(serverUrl), { pathname: name }).href
  await migratePostgresDatabase(url, false)
  const observer = new pg.Client(url)
  await observer.connect()
  const selectAll = `SELECT id::text, convert_to(name, 'UTF8') AS name, convert_to(tag, 'UTF8') AS tag
    FROM plants ORDER BY plants.id`
  return {
    url,
    folder,
    withStore: (use) => withStoreOf(url, use),
    async readPlants() {
      const { rows } = await observer.query<StoredRow>(selectAll)
      return rows.map((row) => toPlant({ ...row, id: BigInt(row.id) }))
    },
    removePlants: async () => void (await observer.query('DELETE FROM plants')),
    async holdCommits() {
      await observer.query('BEGIN')
      await observer.query('LOCK TABLE plants IN EXCLUSIVE MODE')
      return () => void observer.query('ROLLBACK')
    },
    execute: async (sql: string) => void (await observer.query(sql)),
    async close() {
      await observer.end()
      await server.query(`DROP DATABASE ${name} WITH (FORCE)`)
      await server.end()
      rmSync(folder, { recursive: true })
    },
  }
}

/** Makes a database of the engine that the tests use: SQLite by default. */
export async function makeDatabaseUnderTest(): Promise<DatabaseUnderTest> {
  const url = inject('databaseUrl') ?? process.env.PLANT_STORE_TEST_DATABASE_URL ?? 'sqlite:'
  const [scheme = ''] = url.split(':')
  if (scheme === 'sqlite') return makeSqliteFile()
  if (scheme === 'postgres') return makePostgresDatabase(url)
  throw new Error(`there is no database under test for ${scheme}:`)
}
