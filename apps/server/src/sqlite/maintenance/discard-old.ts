import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { CopyOptions, Discarded } from '../../store/engine.ts'
import { readValue } from '../database/connect.ts'
import { type HeldStore, holdStore } from './backup.ts'

/** The name of a backup with its time, such as plants-2026-11-22T21-36-25Z.db. */
const NAME = /^(.*-)\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.db$/s

/** When the first table of a store was made: its backups have the same time, other stores hardly. */
function birthOf({ database }: HeldStore): unknown {
  return readValue(database, 'SELECT applied_at FROM migrations WHERE version = 1')
}

async function withBackup<Result>(
  file: string,
  { signal }: CopyOptions,
  use: (backup: HeldStore) => Result,
): Promise<Result> {
  const backup = await holdStore(file, { signal })
  try {
    return use(backup)
  } finally {
    backup.database.close()
  }
}

/** Why a file may not be deleted; undefined when it is a good backup of the store born then. */
async function findReason(
  file: string,
  birth: unknown,
  options: CopyOptions,
): Promise<string | undefined> {
  try {
    return await withBackup(file, options, (backup) => {
      if (!backup.isDigested) return 'carries no digest, so that it may be no backup'
      return birthOf(backup) === birth ? undefined : 'is a backup of another store'
    })
  } catch (error) {
    options.signal.throwIfAborted()
    return `is no good backup: ${(error as Error).message}`
  }
}

/**
 * Deletes the backups that are older than the newest `keep`, among those in the folder of `newest`
 * whose names differ from it in the time alone. Each is read to its last byte before: what is not a
 * good backup of the same store stays, and `newest` always does.
 * @throws the error of the file system when one cannot be deleted.
 */
export async function discardOldBackups(
  newest: string,
  keep: number,
  options: CopyOptions,
): Promise<Discarded> {
  const folder = dirname(resolve(newest))
  const [, beginning] = NAME.exec(basename(newest)) ?? []
  const others = readdirSync(folder)
    .filter((name) => name !== basename(newest) && NAME.exec(name)?.[1] === beginning)
    .toSorted()
  const old = others.slice(0, Math.max(0, others.length - (keep - 1)))
  if (beginning === undefined || old.length === 0) return { deleted: [], spared: [] }
  const birth = await withBackup(newest, options, birthOf)
  const deleted: string[] = []
  const spared: { file: string; reason: string }[] = []
  for (const file of old.map((name) => join(folder, name))) {
    const reason = await findReason(file, birth, options)
    if (reason === undefined) {
      rmSync(file)
      deleted.push(file)
    } else spared.push({ file, reason })
  }
  return { deleted, spared }
}
