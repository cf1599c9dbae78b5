import type { DatabaseSync } from 'node:sqlite'
import { StoreRefusedError } from '../../store/store.ts'
import { isBusy, isCorrupt, isOfAccess } from '../files/error-codes.ts'
import { describeFullDisk, refuseHolesOnFullDisk } from '../files/full-disk.ts'
import { pagesInLog } from '../files/log-pages.ts'
import { sizeOf } from '../files/measure-files.ts'
import { describeOpenFailure, refuseNoFile } from '../files/open-failure.ts'
import { realPathOf } from '../files/real-path.ts'
import { refuseUnfinishedRestore } from '../files/unfinished-restore.ts'
import { connect, readValue } from './connect.ts'
import { refuseStrangeSchema } from './schema.ts'

/** Marks a file as a plant store (https://sqlite.org/pragma.html#pragma_application_id): "PLNT". */
export const APPLICATION_ID = 0x504c4e54

/** How long opening waits for other processes that hold the file. */
export const OPEN_BUSY_TIMEOUT_MS = 5_000

function refuseForeign(database: DatabaseSync, path: string): void {
  if (readValue(database, 'PRAGMA application_id') === APPLICATION_ID) return
  if (readValue(database, 'SELECT count(*) FROM sqlite_schema') === 0) return
  throw new StoreRefusedError(
    `${path} is a database of another program. Name another file in PLANT_STORE_DATABASE_URL.`,
  )
}

/**
 * @throws StoreRefusedError for a log whose database is gone, because SQLite would delete that log,
 * and for a store that is being restored.
 */
export function refuseLoneLog(path: string): void {
  refuseUnfinishedRestore(path)
  if ((sizeOf(path) ?? 0) > 0 || (sizeOf(`${path}-wal`) ?? 0) === 0) return
  throw new StoreRefusedError(
    `${path} is ${sizeOf(path) === undefined ? 'missing' : 'empty'} but ${path}-wal is not: ` +
      'plants may be in that log. Put the database back beside it. ' +
      `If it is lost, try: plant-store-server restore BACKUP --set-aside`,
  )
}

/** How thoroughly a file is read; both read all of it, `integrity_check` its indexes as well. */
export type Check = 'quick_check' | 'integrity_check'

/** What helps against damage to a store. */
function remedyOfStore(): string {
  return `Try: plant-store-server restore BACKUP --set-aside`
}

/** @throws StoreRefusedError naming the first damage. */
export function refuseCorrupt(
  database: DatabaseSync,
  path: string,
  check: Check,
  remedy: string,
): void {
  const damage = readValue(database, `PRAGMA ${check}(1)`)
  if (damage === 'ok') return
  throw corruptError(path, String(damage), remedy)
}

function corruptError(
  path: string,
  damage: string,
  remedy: string,
  options?: ErrorOptions,
): StoreRefusedError {
  return new StoreRefusedError(`${path} is corrupt (${damage}). ${remedy}`, options)
}

/** @throws StoreRefusedError where pages are neither in the file nor in its log; reads none of them. */
function refuseTruncated(database: DatabaseSync, path: string, remedy: string): void {
  // Within a transaction, so that the log keeps what is not in the file yet.
  database.exec('BEGIN')
  try {
    const pages = Number(readValue(database, 'PRAGMA page_count'))
    const pageBytes = Number(readValue(database, 'PRAGMA page_size'))
    const whole = Math.floor((sizeOf(path) ?? 0) / pageBytes)
    if (whole >= pages) return
    const log = `${path}-wal`
    const inLog = sizeOf(log) === undefined ? new Set<number>() : pagesInLog(log, pageBytes)
    for (let page = whole + 1; page <= pages; page++) {
      if (inLog.has(page)) continue
      throw corruptError(path, `it ends before page ${page} of ${pages}`, remedy)
    }
  } finally {
    if (database.isTransaction) database.exec('ROLLBACK')
  }
}

function describeUnreadable(error: unknown, path: string, remedy: string): unknown {
  if (error instanceof StoreRefusedError) return error
  const full = describeFullDisk(error, path)
  if (full !== undefined) return full
  if (isBusy(error) || isOfAccess(error)) return describeOpenFailure(error, path)
  const reason = error instanceof Error ? error.message : String(error)
  if (isCorrupt(error)) return corruptError(path, reason, remedy, { cause: error })
  return new StoreRefusedError(`${path} cannot be read as a plant store: ${reason}. ${remedy}`, {
    cause: error,
  })
}

/**
 * Opens an existing plant store for reading, whatever older schema it has. `remedy` says what helps
 * against damage: by default to restore a backup.
 * @throws StoreRefusedError when it is missing, empty, foreign, newer, changed or cannot be read.
 */
export function openForReading(
  file: string,
  check?: Check,
  remedy = remedyOfStore(),
): DatabaseSync {
  const path = realPathOf(file)
  refuseNoFile(path)
  refuseLoneLog(path)
  if ((sizeOf(path) ?? 0) === 0) {
    throw new StoreRefusedError(`there is no plant store in ${path}`)
  }
  refuseHolesOnFullDisk(path)
  let database: DatabaseSync | undefined
  try {
    database = connect(path, { readOnly: true, timeout: OPEN_BUSY_TIMEOUT_MS })
    refuseForeign(database, path)
    refuseTruncated(database, path, remedy)
    refuseStrangeSchema(database, path)
    if (check !== undefined) refuseCorrupt(database, path, check, remedy)
    return database
  } catch (error) {
    database?.close()
    throw describeUnreadable(error, path, remedy)
  }
}
