import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Migrated } from '../store/engine.ts'
import { StoreRefusedError } from '../store/store.ts'
import { copyBeforeMigration } from './backup.ts'
import { connect, makeDurable, readValue } from './connect.ts'
import { codeOf } from './errors.ts'
import {
  createFolderOf,
  createOwnFile,
  realPathOf,
  SyncForbiddenError,
  sizeOf,
  syncPath,
} from './files.ts'
import { APPLICATION_ID, OPEN_BUSY_TIMEOUT_MS, openForReading, refuseUnusable } from './inspect.ts'
import { refuseMoved, removeLeftovers } from './leftovers.ts'
import { migrate, NEWEST_VERSION, schemaVersionOf } from './migrations.ts'
import { describeOpenFailure } from './open-failure.ts'
import { refuseStrangeSchema } from './schema.ts'

/**
 * Looks at a file without changing it; a missing or empty one may be made a store unless it must
 * exist. Gives the version of its schema, 0 for none.
 * @throws what keeps a server from opening it.
 */
export function inspect(path: string, mustExist = false): number {
  refuseUnusable(path)
  // SQLite would open for reading alone what may not be written, and fail at the first create.
  if (sizeOf(path) !== undefined) accessSync(path, constants.R_OK | constants.W_OK)
  const version = readVersion(path)
  if (version > 0 || !mustExist) return version
  throw new StoreRefusedError(`there is no plant store in ${path}`, {
    code: 'missing',
    fix:
      'mount its disk, or name its place in PLANT_STORE_DATABASE_URL. If there has never been one: ' +
      'plant-store-server migrate',
  })
}

/** Writes the file's header with what it says already: the smallest change that needs a commit. */
export function touch(database: DatabaseSync): void {
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
}

/**
 * A process that was killed may have left commits that were written but never synced. A repeat of
 * such a create is answered 200 without a write, so they must reach the disk before that.
 * The passive checkpoint waits for nobody: any other one would hold the write lock while it waits
 * for readers, such as an export, and a server on the same file could not commit meanwhile.
 */
async function syncLeftovers(database: DatabaseSync, path: string): Promise<void> {
  const log = `${path}-wal`
  if ((sizeOf(log) ?? 0) === 0) return
  try {
    await syncPath(log)
    await syncPath(dirname(path))
  } catch (error) {
    if (!(error instanceof SyncForbiddenError)) throw error
    // A commit syncs the whole log, and its folder at the first time.
    touch(database)
  }
  database.exec('PRAGMA wal_checkpoint(PASSIVE)')
}

/** Makes the file before SQLite does, which would let the umask decide who may read it. */
function createMissing(path: string): void {
  try {
    createOwnFile(path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

/** Brings a file to the newest schema, without what earlier versions added. */
async function bringToNewestSchema(database: DatabaseSync, path: string): Promise<void> {
  refuseStrangeSchema(database, path)
  refuseMoved(database, path)
  await copyBeforeMigration(database, path)
  removeLeftovers(database)
  migrate(database, path)
  refuseStrangeSchema(database, path)
}

/**
 * Opens the plant store in a SQLite file, making the file and its folder, both for their owner only,
 * if they are missing and need not exist, with WAL and synchronous=FULL set and read back, its schema checked, and migrated
 * to the newest schema; a store with plants is copied before that, beside itself.
 * Busy waits are off afterwards: see retryWhileBusy.
 * @throws StoreRefusedError when the file must not or cannot be used; it is then left as it was.
 */
export async function openDatabase(file: string, mustExist?: boolean): Promise<DatabaseSync> {
  const path = realPathOf(file)
  let database: DatabaseSync | undefined
  try {
    inspect(path, mustExist)
    await createFolderOf(path)
    createMissing(path)
    database = connect(path, { timeout: OPEN_BUSY_TIMEOUT_MS })
    makeDurable(database)
    await syncLeftovers(database, path)
    if (readValue(database, 'PRAGMA application_id') !== APPLICATION_ID) touch(database)
    await bringToNewestSchema(database, path)
    database.exec('PRAGMA busy_timeout = 0')
    return database
  } catch (error) {
    database?.close()
    throw describeOpenFailure(error, path)
  }
}

function readVersion(path: string): number {
  if ((sizeOf(path) ?? 0) === 0) return 0
  const database = openForReading(path)
  try {
    return schemaVersionOf(database)
  } finally {
    database.close()
  }
}

/**
 * Brings a store to the newest schema, making it if it is missing; gives both versions.
 * @throws StoreRefusedError when the file must not be used.
 */
export async function migrateSqlite(path: string): Promise<Migrated> {
  const before = readVersion(path)
  const database = await openDatabase(path)
  database.close()
  const note = 'A SQLite store migrates by itself when it is opened.'
  return { before, after: NEWEST_VERSION, place: path, note }
}
