import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { inject } from 'vitest'
import { migratePostgresDatabase } from '../../src/store/postgres/migrate.ts'
import { openPostgresStore } from '../../src/store/postgres/postgres.ts'
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
  const store = await openSqliteStore({ path, queueLimit })
  // Not defensive, so that a test can break the file; patient, because the server writes when it
  // starts and when a token is used.
  const observer = new DatabaseSync(path, { defensive: false, timeout: 5_000 })
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

interface StoredRow {
  readonly id: string
  readonly name: Uint8Array
  readonly tag: Uint8Array | null
}

/** A new database of the PostgreSQL that the URL leads to, which goes with it. */
const openPostgresDatabase: OpenStoreUnderTest = async ({ queueLimit }) => {
  const server = new pg.Client(databaseUrlUnderTest())
  await server.connect()
  const name = `wire_${randomUUID().replaceAll('-', '')}`
  await server.query(`CREATE DATABASE ${name}`)
  const databaseUrl = Object.assign(new URL(databaseUrlUnderTest()), { pathname: name }).href
  await migratePostgresDatabase(databaseUrl, false)
  const store = await openPostgresStore({ databaseUrl, queueLimit, allowDataLoss: false })
  const observer = new pg.Client(databaseUrl)
  await observer.connect()
  const selectAll = `SELECT id::text, convert_to(name, 'UTF8') AS name, convert_to(tag, 'UTF8') AS tag
    FROM plants ORDER BY plants.id`
  return {
    store,
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
      await store.close()
      await observer.end()
      await server.query(`DROP DATABASE ${name}`)
      await server.end()
    },
  }
}

const openers: Readonly<Record<string, OpenStoreUnderTest>> = {
  sqlite: openSqliteFile,
  postgres: openPostgresDatabase,
}

/** Where the tests were told to go, or the server that they have started for themselves. */
function databaseUrlUnderTest(): string {
  return inject('databaseUrl') ?? process.env.PLANT_STORE_TEST_DATABASE_URL ?? 'sqlite:'
}

/** Opens the engine that a database URL names by its scheme: SQLite by default. */
export const openStoreUnderTest: OpenStoreUnderTest = (options) => {
  const [scheme = ''] = databaseUrlUnderTest().split(':')
  const open = openers[scheme]
  if (open === undefined) throw new Error(`there is no store under test for ${scheme}:`)
  return open(options)
}
