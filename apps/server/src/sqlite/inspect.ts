import type { DatabaseSync } from 'node:sqlite'
import { StoreRefusedError } from '../store/store.ts'
import { connect, readValue } from './connect.ts'
import { isBusy, isCorrupt, isOfAccess } from './errors.ts'
import { realPathOf, sizeOf } from './files.ts'
import {
  describeFullDisk,
  describeOpenFailure,
  refuseHolesOnFullDisk,
  refuseNoFile,
} from './open-failure.ts'
import { refuseStrangeSchema } from './schema.ts'

/** Marks a file as a plant store (https://sqlite.org/pragma.html#pragma_application_id): "PLNT". */
export const APPLICATION_ID = 0x504c4e54

/** How long opening waits for other processes that hold the file. */
export const OPEN_BUSY_TIMEOUT_MS = 5_000

/** What helps against damage to a store. */
export const FIX_OF_STORE =
  'plant-store-server restore BACKUP, after the files of this store were moved to another folder'

function refuseForeign(database: DatabaseSync, path: string): void {
  if (readValue(database, 'PRAGMA application_id') === APPLICATION_ID) return
  if (readValue(database, 'SELECT count(*) FROM sqlite_schema') === 0) return
  throw new StoreRefusedError(`${path} is a database of another program`, {
    code: 'foreign',
    fix: 'another file in PLANT_STORE_DATABASE_URL',
  })
}

/**
 * Refuses what SQLite must not even look at: no file, a full disk, or a log whose database is gone,
 * because SQLite would delete that log.
 */
export function refuseUnusable(path: string): void {
  refuseNoFile(path)
  refuseHolesOnFullDisk(path)
  if ((sizeOf(path) ?? 0) > 0 || (sizeOf(`${path}-wal`) ?? 0) === 0) return
  const state = sizeOf(path) === undefined ? 'missing' : 'empty'
  const message = `${path} is ${state} but ${path}-wal is not: plants may be in that log`
  const fix = `put the database back beside it. If it is lost: ${FIX_OF_STORE}`
  throw new StoreRefusedError(message, { code: 'lone_log', fix })
}

/** @throws StoreRefusedError naming the first damage; reads every page. */
export function refuseCorrupt(database: DatabaseSync, path: string, fix: string): void {
  const damage = readValue(database, 'PRAGMA integrity_check(1)')
  if (damage !== 'ok') throw corruptError(path, String(damage), fix)
}

function corruptError(path: string, damage: string, fix: string, cause?: unknown) {
  return new StoreRefusedError(`${path} is corrupt (${damage})`, { code: 'corrupt', fix, cause })
}

/** @throws StoreRefusedError where a file without a log lacks pages; reads none of them. */
function refuseTruncated(database: DatabaseSync, path: string, fix: string): void {
  if ((sizeOf(`${path}-wal`) ?? 0) > 0) return
  const pages = Number(readValue(database, 'PRAGMA page_count'))
  const whole = Math.floor((sizeOf(path) ?? 0) / Number(readValue(database, 'PRAGMA page_size')))
  if (whole >= pages) return
  throw corruptError(path, `it ends before page ${whole + 1} of ${pages}`, fix)
}

/** What the failure to read a store means. */
export function describeUnreadable(error: unknown, path: string, fix: string): unknown {
  if (error instanceof StoreRefusedError) return error
  const full = describeFullDisk(error, path)
  if (full !== undefined) return full
  if (isBusy(error) || isOfAccess(error)) return describeOpenFailure(error, path)
  const cause = error
  const reason = error instanceof Error ? error.message : String(error)
  if (isCorrupt(error)) return corruptError(path, reason, fix, cause)
  const message = `${path} cannot be read as a plant store: ${reason}`
  return new StoreRefusedError(message, { code: 'unreadable', fix, cause })
}

/**
 * Opens an existing plant store for reading, whatever older schema it has. `fix` says what helps
 * against damage: by default to restore a backup. `isSalvage`: one that lacks pages at its end, too.
 * @throws StoreRefusedError when it is missing, empty, foreign, newer, changed or cannot be read.
 */
export function openForReading(file: string, fix = FIX_OF_STORE, isSalvage = false): DatabaseSync {
  const path = realPathOf(file)
  refuseUnusable(path)
  if ((sizeOf(path) ?? 0) === 0) {
    throw new StoreRefusedError(`there is no plant store in ${path}`, { code: 'missing' })
  }
  let database: DatabaseSync | undefined
  try {
    const options = { readOnly: true, timeout: OPEN_BUSY_TIMEOUT_MS, defensive: !isSalvage }
    database = connect(path, options)
    // With this SQLite takes a file for as long as it is, instead of refusing it.
    if (isSalvage) database.exec('PRAGMA writable_schema = ON')
    refuseForeign(database, path)
    if (!isSalvage) refuseTruncated(database, path, fix)
    refuseStrangeSchema(database, path)
    return database
  } catch (error) {
    database?.close()
    throw describeUnreadable(error, path, fix)
  }
}
