import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { inject } from 'vitest'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { openStore } from '../../src/engines.ts'
import { migratePostgresDatabase } from '../../src/postgres/migrations.ts'
import type { Store } from '../../src/store/store.ts'

/** A plant as it lies in the database. */
export interface StoredPlant {
  readonly id: bigint
  readonly name: string
  readonly tag?: string
}

/** A way into a database that bypasses the server. */
interface Observer {
  /** The setting that leads the server to the database. */
  readonly url: string
  /** Every plant in id order, its texts as bytes. */
  readonly selectPlants: string
  /** Begins a transaction that lets no commit of others end. */
  readonly holdCommits: string
  /** The rows of a statement, if it gives any. */
  query(sql: string): Promise<readonly Record<string, unknown>[]>
  close(): Promise<void>
}

// Fatal, so that the database must hold UTF-8; a byte order mark is text like any other.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function toPlant({ id, name, tag }: Record<string, unknown>): StoredPlant {
  const plant = { id: BigInt(id as string), name: utf8.decode(name as Uint8Array) }
  return tag === null ? plant : { ...plant, tag: utf8.decode(tag as Uint8Array) }
}

/** A folder that lasts until the database is closed. */
const makeFolder = () => temporaryFolder(() => {})

/** A real database, and a way into it. */
function underTest({ url, ...observer }: Observer, folder = makeFolder()) {
  /** Opens it as another process of the program would, for as long as `use` takes. */
  async function withStore<Result>(use: (store: Store) => Promise<Result>): Promise<Result> {
    const store = await openStore({ databaseUrl: url, allowDataLoss: false })
    return use(store).finally(() => store.close())
  }
  /** Runs a statement that the store knows nothing of. */
  const execute = async (sql: string) => void (await observer.query(sql))
  return {
    url,
    folder,
    withStore,
    execute,
    /** Every plant, in id order, with each digit and each byte as the database holds it. */
    readPlants: async () => (await observer.query(observer.selectPlants)).map(toPlant),
    removePlants: () => execute('DELETE FROM plants'),
    /** Lets no commit end until the function that it gives is called. */
    async holdCommits() {
      await execute(observer.holdCommits)
      return () => void execute('ROLLBACK')
    },
    async close() {
      await observer.close()
      rmSync(folder, { recursive: true })
    },
  }
}

export type DatabaseUnderTest = ReturnType<typeof underTest>

/** A new SQLite file, which is there once a store has opened it. */
export async function makeSqliteFile(): Promise<DatabaseUnderTest> {
  const folder = makeFolder()
  const path = join(folder, 'plants.db')
  let opened: DatabaseSync | undefined
  // Not defensive, so that a test can break the file; patient, because the server writes when it
  // starts and when a token is used.
  const open = () => (opened ??= new DatabaseSync(path, { defensive: false, timeout: 5_000 }))
  const texts = 'CAST(name AS BLOB) AS name, CAST(tag AS BLOB) AS tag'
  const observer: Observer = {
    url: `sqlite:${path}`,
    selectPlants: `SELECT CAST(id AS TEXT) AS id, ${texts} FROM plants ORDER BY plants.id`,
    holdCommits: 'BEGIN IMMEDIATE',
    query: async (sql) =>
      sql.startsWith('SELECT') ? open().prepare(sql).all() : (open().exec(sql) ?? []),
    close: async () => opened?.close(),
  }
  return underTest(observer, folder)
}

/** A new database of the PostgreSQL that the URL leads to. */
async function makePostgresDatabase(serverUrl: string): Promise<DatabaseUnderTest> {
  const server = new pg.Client(serverUrl)
  await server.connect()
  const name = `wire_${randomUUID().replaceAll('-', '')}`
  await server.query(`CREATE DATABASE ${name}`)
  const url = Object.assign(new URL(serverUrl), { pathname: name }).href
  await migratePostgresDatabase(url, false)
  const observer = new pg.Client(url)
  await observer.connect()
  const texts = "convert_to(name, 'UTF8') AS name, convert_to(tag, 'UTF8') AS tag"
  return underTest({
    url,
    selectPlants: `SELECT id::text, ${texts} FROM plants ORDER BY plants.id`,
    holdCommits: 'BEGIN; LOCK TABLE plants IN EXCLUSIVE MODE',
    query: async (sql) => (await observer.query(sql)).rows,
    async close() {
      await observer.end()
      await server.query(`DROP DATABASE ${name} WITH (FORCE)`)
      await server.end()
    },
  })
}

/** Makes a database of the engine that the tests use: SQLite by default. */
export async function makeDatabaseUnderTest(): Promise<DatabaseUnderTest> {
  const url = inject('databaseUrl') ?? process.env.PLANT_STORE_TEST_DATABASE_URL ?? 'sqlite:'
  const [scheme = ''] = url.split(':')
  if (scheme === 'sqlite') return makeSqliteFile()
  if (scheme === 'postgres') return makePostgresDatabase(url)
  throw new Error(`there is no database under test for ${scheme}:`)
}
