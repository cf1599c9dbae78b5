import { resolve } from 'node:path'
import { backup, type DatabaseSync } from 'node:sqlite'
import type { BackedUp, CopyOptions, Restored, StoreContents } from '../store/engine.ts'
import { StoreRefusedError, type TokenRecord } from '../store/store.ts'
import { describeCount } from '../text/describe-count.ts'
import { connect, LOG_BYTES, openConnection, readValue } from './connect.ts'
import { createFolderOf, realPathOf, sizeOf, syncPath, writeNewFile } from './files.ts'
import { describeUnreadable, FIX_OF_STORE, openForReading, refuseCorrupt } from './inspect.ts'
import { removeLeftovers } from './leftovers.ts'
import { noteBackup } from './measure.ts'
import { hasTable, migrate, NEWEST_VERSION, schemaVersionOf } from './migrations.ts'
import { describeFullDisk } from './open-failure.ts'
import { refuseStrangeSchema } from './schema.ts'
import { readTokens } from './tokens.ts'

function readContents(database: DatabaseSync): StoreContents {
  const count = (table: string) =>
    hasTable(database, table) ? Number(readValue(database, `SELECT count(*) FROM ${table}`)) : 0
  return { plants: count('plants'), tokens: count('tokens') }
}

/**
 * Checks a copy to its last page, and makes it one file that needs no write-ahead log beside it.
 * @throws StoreRefusedError when it does not hold what it should.
 */
function finishCopy(path: string, expected: StoreContents): void {
  const copy = connect(path)
  try {
    copy.exec('PRAGMA journal_mode = delete')
    refuseStrangeSchema(copy, path)
    removeLeftovers(copy)
    refuseCorrupt(copy, path, 'another disk')
    const { plants, tokens } = readContents(copy)
    if (plants === expected.plants && tokens === expected.tokens) return
    throw new StoreRefusedError(
      `${path} holds ${describeCount(plants, 'plant')} and ${describeCount(tokens, 'token')} ` +
        `instead of ${expected.plants} and ${expected.tokens}`,
    )
  } finally {
    copy.close()
  }
}

/**
 * Before a store with plants gets a newer schema, keeps it as it is in a file beside it, such as
 * `plants.db.schema-1.300`, which ends with the number of plants. They are only ever added, so that
 * a start that is tried again finds the same copy.
 * @throws StoreRefusedError when that cannot be done.
 */
export async function copyBeforeMigration(database: DatabaseSync, path: string): Promise<void> {
  const version = schemaVersionOf(database)
  if (version === 0 || version >= NEWEST_VERSION) return
  const contents = readContents(database)
  const copyPath = `${path}.schema-${version}.${contents.plants}`
  if (contents.plants === 0 || sizeOf(copyPath) !== undefined) return
  try {
    await writeNewFile(copyPath, (temporaryPath) => {
      database.prepare('VACUUM INTO ?').run(temporaryPath)
      finishCopy(temporaryPath, contents)
    })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StoreRefusedError(
      `${path} needs a newer schema, but could not be copied to ${copyPath} before: ${reason}`,
      { cause: error, fix: 'make room for a copy, and start again' },
    )
  }
}

/** The code of the error where the disk of a copy is full. */
const NO_ROOM = 'no_room'

/** 4 MB at a time: many enough for speed, few enough to stop soon. */
const PAGES_PER_STEP = 1_000

/**
 * Ends a transaction that reads, and checkpoints the log, which could only grow meanwhile. If this
 * process may not, the next commit of a server does it, and every create waits for that.
 */
function endReading(source: DatabaseSync): void {
  const path = source.location() ?? ''
  let writer: DatabaseSync | undefined
  try {
    if ((sizeOf(`${path}-wal`) ?? 0) > LOG_BYTES) writer = openConnection(path)
    source.exec('COMMIT')
    writer?.exec('PRAGMA wal_checkpoint(PASSIVE)')
  } catch {
    if (source.isTransaction) source.exec('COMMIT')
  } finally {
    writer?.close()
  }
}

/**
 * Copies what a store holds now, which may be written to meanwhile, into an empty file, and checks
 * the copy to its last page, which finds the damage of either.
 */
async function copyStore(
  source: DatabaseSync,
  target: string,
  { signal, onProgress }: CopyOptions,
): Promise<StoreContents> {
  source.exec('BEGIN')
  const contents = readContents(source)
  const syncs: Promise<void>[] = []
  // Within a transaction, or else SQLite would begin the backup again after every commit of
  // another process, and under load never end (https://sqlite.org/backup.html).
  await backup(source, target, {
    rate: PAGES_PER_STEP,
    progress: ({ totalPages, remainingPages }) => {
      signal.throwIfAborted()
      // A commit of a server waits while the disk takes all of it, so it gets it piece by piece.
      const sync = syncPath(target)
      sync.catch(() => {})
      syncs.push(sync)
      onProgress?.(1 - remainingPages / totalPages)
    },
  })
  signal.throwIfAborted()
  endReading(source)
  await Promise.all(syncs)
  finishCopy(target, contents)
  return contents
}

/** @throws StoreRefusedError and the like; where the copy is damaged, for the damage of its source. */
async function copyChecked(
  source: DatabaseSync,
  target: string,
  options: CopyOptions,
  [path, fix]: readonly [path: string, fix: string],
): Promise<StoreContents> {
  try {
    return await copyStore(source, target, options)
  } catch (error) {
    options.signal.throwIfAborted()
    const isCorrupt = error instanceof StoreRefusedError && error.code === 'corrupt'
    if (isCorrupt) refuseCorrupt(source, path, fix)
    throw describeFullDisk(error, target, NO_ROOM) ?? describeUnreadable(error, path, fix)
  } finally {
    source.close()
  }
}

/**
 * Copies a store, which may be written to meanwhile, into a new file, for its owner only. It appears
 * under its name once it is complete, checked and on stable storage, and never takes the place of
 * another file. Its time is noted beside the store.
 * @throws StoreRefusedError and the like for the store, the error of open or link for the new file.
 */
export async function backUpStore(
  path: string,
  target: string,
  options: CopyOptions,
): Promise<BackedUp> {
  const source = openForReading(path)
  const file = resolve(target)
  const contents = await writeNewFile(file, (temporaryPath) =>
    copyChecked(source, temporaryPath, options, [path, FIX_OF_STORE]),
  )
  return { ...contents, noteError: noteBackup(realPathOf(path), file, contents.plants) }
}

function refuseTaken(path: string): void {
  // A log may hold plants; an empty one is what a reader leaves.
  const taken =
    sizeOf(path) !== undefined
      ? path
      : [`${path}-wal`, `${path}-journal`].find((file) => (sizeOf(file) ?? 0) > 0)
  if (taken === undefined) return
  throw new StoreRefusedError(`${taken} exists already, and restore never replaces a file`, {
    code: 'taken',
    fix: `stop the server, move ${path}, ${path}-wal and ${path}-shm to another folder, and the same again`,
  })
}

/** Brings the copy of a backup to the newest schema, and gives its tokens. */
function makeStoreOf(path: string): TokenRecord[] {
  const database = connect(path)
  try {
    migrate(database, path)
    return readTokens(database)
  } catch (error) {
    throw describeFullDisk(error, path, NO_ROOM) ?? error
  } finally {
    database.close()
  }
}

/**
 * Makes a store of a backup at a path that is free, all or nothing, for its owner only. The copy is
 * checked to its last page before it gets its name.
 * @throws StoreRefusedError when the backup is no good, or something is at the path.
 */
export async function restoreStore(
  backupPath: string,
  target: string,
  options: CopyOptions,
): Promise<Restored> {
  const path = realPathOf(target)
  refuseTaken(path)
  const of = [backupPath, 'another backup, or another copy of this one'] as const
  const source = openForReading(...of)
  refuseCorrupt(source, ...of)
  options.signal.throwIfAborted()
  await createFolderOf(path)
  return writeNewFile(path, async (temporaryPath) => {
    const contents = await copyChecked(source, temporaryPath, options, of)
    return { ...contents, restoredTokens: makeStoreOf(temporaryPath) }
  })
}
