import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { StoreRefusedError } from '../store.ts'
import { readContents, type StoreContents } from './contents.ts'
import { type CopyOptions, copyStore } from './copy.ts'
import { openDatabase } from './database.ts'
import { openForReading, refuseLoneLog, sizeOf } from './inspect.ts'
import { migrate } from './migrations.ts'
import { createNewFile, type NewFile } from './new-file.ts'
import { realPathOf } from './real-path.ts'
import { createFolderOf } from './sync-files.ts'
import { createTransactions } from './transactions.ts'

const OWNER_MAY_WRITE = 0o600

function refuseFilled(database: DatabaseSync, path: string): void {
  const { plants } = readContents(database)
  if (plants === 0) return
  throw new StoreRefusedError(
    `${path} holds ${plants} plants, and restore never replaces one. ` +
      `Try: move ${path}, ${path}-wal and ${path}-shm away together while no server runs, ` +
      'or restore to another --database-url',
  )
}

function refuseFilledFile(path: string): void {
  refuseLoneLog(path)
  if ((sizeOf(path) ?? 0) === 0) return
  const database = openForReading(path)
  try {
    refuseFilled(database, path)
  } finally {
    database.close()
  }
}

function bringToNewestSchema(path: string): void {
  const database = new DatabaseSync(path)
  try {
    migrate(database, path)
  } finally {
    database.close()
  }
}

/**
 * One transaction of the target itself, so that servers that have it open see all of it or nothing,
 * and no file is exchanged under them. Tokens of both sides stay; of the same token, the target's.
 */
async function addAll(copyPath: string, path: string): Promise<void> {
  bringToNewestSchema(copyPath)
  const database = await openDatabase(path)
  try {
    database.prepare('ATTACH ? AS restored').run(copyPath)
    await createTransactions(database, () => {}).write(() => {
      refuseFilled(database, path)
      database.exec('INSERT INTO plants SELECT * FROM restored.plants')
      database.exec('INSERT OR IGNORE INTO tokens SELECT * FROM restored.tokens')
    })
  } finally {
    database.close()
  }
}

async function place(copy: NewFile, path: string): Promise<void> {
  if (sizeOf(path) === undefined) await copy.publish()
  else await addAll(copy.temporaryPath, path)
}

/**
 * Fills a store that holds no plants from a backup, all or nothing; the file is made if it is
 * missing. The backup is checked to its last page before, and its copy once more.
 * @throws StoreRefusedError when the target holds plants or the backup is no good.
 */
export async function restoreStore(
  backupPath: string,
  target: string,
  options: CopyOptions,
): Promise<StoreContents> {
  const path = realPathOf(target)
  openForReading(backupPath, 'integrity_check').close()
  refuseFilledFile(path)
  await createFolderOf(path)
  const copy = createNewFile(path, statSync(backupPath).mode | OWNER_MAY_WRITE)
  try {
    const contents = await copyStore(backupPath, copy.temporaryPath, options)
    await place(copy, path)
    return contents
  } finally {
    copy.discard()
  }
}
