import type { DatabaseSync } from 'node:sqlite'
import type { CopyOptions, Restored } from '../../../store/engine.ts'
import { operatorNames } from '../../../store/operator-names.ts'
import { listColumns } from '../../../store/plant-columns.ts'
import { StoreRefusedError, type TokenRecord } from '../../../store/store.ts'
import { describeCount } from '../../../text/describe-count.ts'
import { connect } from '../database/connect.ts'
import { readContents } from '../database/copy.ts'
import { openDatabase } from '../database/database.ts'
import { removeDigest } from '../database/digest.ts'
import { openForReading, refuseLoneLog } from '../database/inspect.ts'
import { migrate } from '../database/migrations.ts'
import { refuseStrangeSchema } from '../database/schema.ts'
import { addTokensOf, readTokens } from '../database/tokens.ts'
import { createTransactions } from '../database/transactions.ts'
import { sizeOf } from '../files/measure-files.ts'
import { createNewFile, type NewFile } from '../files/new-file.ts'
import { realPathOf } from '../files/real-path.ts'
import { createFolderOf } from '../files/sync-files.ts'
import { copyStore, holdStore } from './backup.ts'

function refuseFilled(database: DatabaseSync, path: string): void {
  const { plants } = readContents(database)
  if (plants === 0) return
  throw new StoreRefusedError(
    `${path} holds ${describeCount(plants, 'plant')}, and restore never replaces one. ` +
      `Try: move ${path}, ${path}-wal and ${path}-shm away together while no server runs, ` +
      `or restore to another ${operatorNames.databaseUrl}`,
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

/** Makes a store of the copy of a backup, and gives its tokens. */
function makeStoreOf(path: string): TokenRecord[] {
  const database = connect(path)
  try {
    removeDigest(database)
    migrate(database, path)
    refuseStrangeSchema(database, path)
    return readTokens(database)
  } finally {
    database.close()
  }
}

/**
 * One transaction of the target itself, so that servers that have it open see all of it or nothing,
 * and no file is exchanged under them. Tokens of both sides stay; of the same token, the target's.
 */
async function addAll(copyPath: string, path: string): Promise<TokenRecord[]> {
  const database = await openDatabase(path)
  try {
    database.prepare('ATTACH ? AS restored').run(copyPath)
    return await createTransactions(database, () => {}).write(() => {
      refuseFilled(database, path)
      const columns = listColumns()
      database.exec(`INSERT INTO main.plants (${columns}) SELECT ${columns} FROM restored.plants`)
      return addTokensOf('restored', database)
    })
  } finally {
    database.close()
  }
}

/** Gives the tokens that the store has from then on. */
async function place(copy: NewFile, path: string): Promise<TokenRecord[]> {
  const tokens = makeStoreOf(copy.temporaryPath)
  if (sizeOf(path) !== undefined) return await addAll(copy.temporaryPath, path)
  await copy.publish()
  return tokens
}

/**
 * Fills a store that holds no plants from a backup, all or nothing; the file is made if it is
 * missing, for its owner only. The backup is checked to its last byte before, and its copy once more.
 * @throws StoreRefusedError when the target holds plants or the backup is no good.
 */
export async function restoreStore(
  backupPath: string,
  target: string,
  options: CopyOptions,
): Promise<Restored> {
  const path = realPathOf(target)
  const source = await holdStore(backupPath, options.signal)
  try {
    refuseFilledFile(path)
    await createFolderOf(path)
    const copy = createNewFile(path)
    try {
      await copyStore(source, copy.temporaryPath, options)
      const addedTokens = await place(copy, path)
      return { ...source.contents, isDigested: source.isDigested, addedTokens }
    } finally {
      copy.discard()
    }
  } finally {
    source.database.close()
  }
}
