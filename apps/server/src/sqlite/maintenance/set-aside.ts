import { linkSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { dirname } from 'node:path'
import { StoreRefusedError } from '../../store/store.ts'
import { connect } from '../database/connect.ts'
import { isBusy } from '../files/error-codes.ts'
import { findUsers } from '../files/find-users.ts'
import { COMPANIONS, type NewFile } from '../files/new-file.ts'
import { syncPath } from '../files/sync-files.ts'
import { unfinishedRestoreOf } from '../files/unfinished-restore.ts'

function lookAt(path: string) {
  return statSync(path, { throwIfNoEntry: false })
}

/**
 * Whether another process has a database open, by the locks of SQLite: it keeps one as long as it
 * runs. False also where SQLite takes the file for no database.
 */
function isLocked(path: string, scratch: string): boolean {
  // Under another name there is no log beside it that closing would write into the database.
  linkSync(path, scratch)
  const database = connect(scratch)
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK')
    return false
  } catch (error) {
    return isBusy(error)
  } finally {
    database.close()
    for (const companion of COMPANIONS) rmSync(scratch + companion, { force: true })
  }
}

/** @throws StoreRefusedError when another process has a file of the store open. */
function refuseUsed(path: string, scratch: string): void {
  const users = findUsers(COMPANIONS.map((companion) => path + companion))
  if (users.length === 0 && (lookAt(path) === undefined || !isLocked(path, scratch))) return
  const who = users.length === 0 ? '' : ` (${users.map((id) => `process ${id}`).join(', ')})`
  throw new StoreRefusedError(
    `${path} is open in another process${who}, and nothing was changed. ` +
      'Try: stop the server and every command that uses it, then the same again',
  )
}

function nameAt(path: string, seconds: number): string {
  const time = new Date(seconds * 1_000).toISOString().replace('.000', '').replaceAll(':', '-')
  return `${path}.set-aside-${time}`
}

/** Now, or as soon after it as no files that were set aside have the name. */
function findTime(path: string): number {
  let seconds = Math.floor(Date.now() / 1_000)
  const isTaken = (companion: string) => lookAt(nameAt(path, seconds) + companion) !== undefined
  while (COMPANIONS.some(isTaken)) seconds++
  return seconds
}

/** Moves the database and what SQLite keeps beside it, so that they stay together. */
function moveAll(path: string, name: string): void {
  for (const companion of COMPANIONS) {
    if (lookAt(path + companion) === undefined) continue
    if (lookAt(name + companion) !== undefined) {
      throw new StoreRefusedError(
        `${name}${companion} exists already, and nothing is ever replaced. Try: move it away`,
      )
    }
    renameSync(path + companion, name + companion)
  }
}

/**
 * Puts a finished copy in the place of a store, whose files get names with the time. A copy with the
 * name of an unfinished restore is there from before the first file moves until it becomes the
 * store, and nobody opens the store meanwhile: a kill leaves the store as it was, or that copy, and
 * the next call goes on. Its time of change is the time in the names, so that they stay the same.
 * @returns the path that the database has, or would have, among the files that were set aside;
 * undefined when there were none.
 * @throws StoreRefusedError when another process has the store open.
 */
export async function exchangeStore(copy: NewFile, path: string): Promise<string | undefined> {
  refuseUsed(path, `${copy.temporaryPath}.lock.partial`)
  const unfinished = unfinishedRestoreOf(path)
  const begun = lookAt(unfinished)
  const seconds = begun === undefined ? findTime(path) : Math.round(begun.mtimeMs / 1_000)
  utimesSync(copy.temporaryPath, seconds, seconds)
  await syncPath(copy.temporaryPath)
  if (begun === undefined) {
    renameSync(copy.temporaryPath, unfinished)
    await syncPath(dirname(path))
  }
  const name = nameAt(path, seconds)
  moveAll(path, name)
  await syncPath(dirname(path))
  if (begun !== undefined) renameSync(copy.temporaryPath, unfinished)
  renameSync(unfinished, path)
  await syncPath(dirname(path))
  return COMPANIONS.some((companion) => lookAt(name + companion) !== undefined) ? name : undefined
}
