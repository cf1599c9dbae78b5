import type { DatabaseSync } from 'node:sqlite'
import type { Restored, RestoreOptions } from '../../store/engine.ts'
import { listColumns } from '../../store/plant-columns.ts'
import { StoreRefusedError, type TokenRecord } from '../../store/store.ts'
import { describeCount } from '../../text/describe-count.ts'
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
import { copyStore, holdStore, partOf, REMEDY_OF_BACKUP, SOURCE_SHARE } from './backup.ts'
import { exchangeStore } from './set-aside.ts'

function refuseFilled(database: DatabaseSync, path: string): void {
  const { plants } = readContents(database)
  if (plants === 0) return
  throw new StoreRefusedError(
    `${path} holds ${describeCount(plants, 'plant')}, and restore never replaces one. ` +
      `Try: plant-store-server restore BACKUP --set-aside, which keeps the files of this store under ` +
      `other names, or restore to another PLANT_STORE_DATABASE_URL`,
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

/** Gives the tokens that the store has from then on and had not before. */
async function place(
  copy: NewFile,
  path: string,
  isSetAside: boolean,
): Promise<Pick<Restored, 'addedTokens' | 'setAside'>> {
  const addedTokens = makeStoreOf(copy.temporaryPath)
  if (isSetAside) return { addedTokens, setAside: await exchangeStore(copy, path) }
  if (sizeOf(path) !== undefined) return { addedTokens: await addAll(copy.temporaryPath, path) }
  await copy.publish()
  return { addedTokens }
}

function refuseItself(backupPath: string, path: string): void {
  if (realPathOf(backupPath) !== path) return
  throw new StoreRefusedError(`${path} is the store itself. Try: a backup of it`)
}

/**
 * Fills a store that holds no plants from a backup, all or nothing; the file is made if it is
 * missing, for its owner only. The backup is checked to its last byte before, and its copy once more.
 * With `setAside` it takes the place of any store, whose files are kept under other names.
 * @throws StoreRefusedError when the backup is no good, or the target holds plants or is in use.
 */
export async function restoreStore(
  backupPath: string,
  target: string,
  options: RestoreOptions,
): Promise<Restored> {
  const path = realPathOf(target)
  refuseItself(backupPath, path)
  const source = await holdStore(backupPath, {
    signal: options.signal,
    onProgress: partOf(options, 0, SOURCE_SHARE),
    remedy: REMEDY_OF_BACKUP,
  })
  try {
    if (!options.setAside) refuseFilledFile(path)
    await createFolderOf(path)
    const copy = createNewFile(path)
    try {
      await copyStore(source, copy.temporaryPath, {
        signal: options.signal,
        onProgress: partOf(options, SOURCE_SHARE, 1),
      })
      const placed = await place(copy, path, options.setAside)
      return { ...source.contents, isDigested: source.isDigested, ...placed }
    } finally {
      copy.discard()
    }
  } finally {
    source.database.close()
  }
}
