import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StoreRefusedError } from '../store.ts'
import { isBusy } from './failures.ts'
import { migrate, refuseNewerSchema } from './migrations.ts'

/** Marks a file as a plant store (https://sqlite.org/pragma.html#pragma_application_id): "PLNT". */
const APPLICATION_ID = 0x504c4e54

/** The first SQLite without the WAL-reset corruption (https://sqlite.org/wal.html#walresetbug). */
const OLDEST_SQLITE = [3, 51, 3] as const

/** How long opening waits for other processes that hold the file. */
const OPEN_BUSY_TIMEOUT_MS = 5_000

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size
}

/** The value of a pragma, or of the only column of a query. */
function readValue(database: DatabaseSync, sql: string): unknown {
  return Object.values(database.prepare(sql).get() ?? {})[0]
}

export function sqliteVersionOf(database: DatabaseSync): string {
  return String(readValue(database, 'SELECT sqlite_version()'))
}

function refuseOldSqlite(database: DatabaseSync): void {
  const version = sqliteVersionOf(database)
  const parts = version.split('.').map(Number)
  const difference = OLDEST_SQLITE.map((least, index) => (parts[index] ?? 0) - least).find(Boolean)
  if ((difference ?? 0) >= 0) return
  throw new StoreRefusedError(
    `SQLite ${version} can corrupt a write-ahead log. Use a Node.js with SQLite ${OLDEST_SQLITE.join('.')} or later.`,
  )
}

/**
 * Looks at an existing file without changing it.
 * @throws StoreRefusedError for a foreign, corrupt or newer file, and for a write-ahead log
 * whose database is gone: SQLite would delete that log, and with it plants that were answered 200.
 */
function inspect(path: string): void {
  const size = sizeOf(path) ?? 0
  if (size === 0) {
    if ((sizeOf(`${path}-wal`) ?? 0) === 0) return
    throw new StoreRefusedError(
      `${path} is ${sizeOf(path) === undefined ? 'missing' : 'empty'} but ${path}-wal is not: ` +
        'plants may be in that log. Put the database back beside it, or restore a backup.',
    )
  }
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: OPEN_BUSY_TIMEOUT_MS })
    refuseForeign(database, path)
    refuseNewerSchema(database, path)
    refuseCorrupt(database, path)
  } catch (error) {
    if (error instanceof StoreRefusedError || isBusy(error)) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new StoreRefusedError(`${path} cannot be read as a plant store: ${reason}`, {
      cause: error,
    })
  } finally {
    database?.close()
  }
}

function refuseForeign(database: DatabaseSync, path: string): void {
  if (readValue(database, 'PRAGMA application_id') === APPLICATION_ID) return
  if (readValue(database, 'SELECT count(*) FROM sqlite_schema') === 0) return
  throw new StoreRefusedError(
    `${path} is a database of another program. Name another file in PLANT_STORE_DATABASE_URL.`,
  )
}

function refuseCorrupt(database: DatabaseSync, path: string): void {
  const finding = readValue(database, 'PRAGMA quick_check(1)')
  if (finding === 'ok') return
  throw new StoreRefusedError(`${path} is corrupt (${finding}). Restore a backup.`)
}

function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function createFolderOf(path: string): void {
  const firstCreated = mkdirSync(dirname(path), { recursive: true })
  // A new folder survives a power cut only once the folder that lists it is synced.
  if (firstCreated !== undefined) syncFolder(dirname(firstCreated))
}

function setAndReadBack(database: DatabaseSync, pragma: string, value: string | number): void {
  database.exec(`PRAGMA ${pragma} = ${value}`)
  const actual = readValue(database, `PRAGMA ${pragma}`)
  if (actual === value) return
  throw new StoreRefusedError(
    `SQLite kept ${pragma} at ${actual} instead of ${value}, so 200 would not mean durable.`,
  )
}

/** Writes the file's header with what it says already: the smallest change that needs a commit. */
export function touch(database: DatabaseSync): void {
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
}

const SYNCHRONOUS_FULL = 2

function makeDurable(database: DatabaseSync): void {
  setAndReadBack(database, 'journal_mode', 'wal')
  setAndReadBack(database, 'synchronous', SYNCHRONOUS_FULL)
  // macOS needs F_FULLFSYNC to reach the platter; elsewhere these two change nothing.
  setAndReadBack(database, 'fullfsync', 1)
  setAndReadBack(database, 'checkpoint_fullfsync', 1)
  // A process that was killed may have left commits that were written but never synced. A repeat
  // of such a create is answered 200 without a write, so they must reach the disk before that.
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
}

/**
 * Opens the plant store in a SQLite file, making the file and its folder if they are missing,
 * with WAL and synchronous=FULL set and read back, checked, and migrated to the newest schema.
 * Busy waits are off afterwards: see retryWhileBusy.
 * @throws StoreRefusedError when the file must not be used; it is then left as it was.
 */
export function openDatabase(file: string): DatabaseSync {
  const path = resolve(file)
  inspect(path)
  createFolderOf(path)
  const database = new DatabaseSync(path, { timeout: OPEN_BUSY_TIMEOUT_MS })
  try {
    refuseOldSqlite(database)
    makeDurable(database)
    if (readValue(database, 'PRAGMA application_id') !== APPLICATION_ID) touch(database)
    migrate(database, path)
    database.exec('PRAGMA busy_timeout = 0')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}
