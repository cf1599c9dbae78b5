import type { DatabaseSync } from 'node:sqlite'
import type { StoreContents } from '../../store/engine.ts'
import { StoreRefusedError } from '../../store/store.ts'
import { describeCount } from '../../text/describe-count.ts'
import { sizeOf } from '../files/measure-files.ts'
import { createNewFile } from '../files/new-file.ts'
import { connect, readValue } from './connect.ts'
import { digestRows, refuseChangedContent, writeDigest } from './digest.ts'
import { openForReading, refuseCorrupt } from './inspect.ts'
import { hasTable, NEWEST_VERSION, schemaVersionOf } from './migrations.ts'
import { removeUnfinishedMove } from './moved.ts'
import { refuseStrangeSchema } from './schema.ts'

function countRows(database: DatabaseSync, table: 'plants' | 'tokens'): number {
  return hasTable(database, table)
    ? Number(readValue(database, `SELECT count(*) FROM ${table}`))
    : 0
}

export function readContents(database: DatabaseSync): StoreContents {
  return {
    schemaVersion: schemaVersionOf(database),
    plants: countRows(database, 'plants'),
    tokens: countRows(database, 'tokens'),
  }
}

/** What a copy must hold; without `sha256` its rows are counted alone. */
export interface ExpectedCopy {
  readonly contents: StoreContents
  readonly sha256?: string
}

/**
 * Checks a copy to its last byte, gives it the digest of its rows, and makes it one file that needs
 * no write-ahead log beside it.
 * @throws StoreRefusedError when it does not hold what it should.
 */
export async function finishCopy(
  path: string,
  { contents, sha256 }: ExpectedCopy,
  signal?: AbortSignal,
  onPlants?: (plants: number) => void,
): Promise<void> {
  const copy = connect(path)
  try {
    copy.exec('PRAGMA journal_mode = delete')
    refuseStrangeSchema(copy, path)
    removeUnfinishedMove(copy)
    refuseCorrupt(copy, path, 'integrity_check', 'Try: another disk')
    const actual = readContents(copy)
    if (actual.plants !== contents.plants || actual.tokens !== contents.tokens) {
      throw new StoreRefusedError(
        `${path} holds ${describeCount(actual.plants, 'plant')} and ${describeCount(actual.tokens, 'token')} ` +
          `instead of ${contents.plants} and ${contents.tokens}`,
      )
    }
    const actualSha256 = await digestRows(copy, signal, onPlants)
    refuseChangedContent(path, sha256, actualSha256)
    writeDigest(copy, actualSha256)
  } finally {
    copy.close()
  }
}

/** Plants are only ever added, so a copy with as many plants holds the same plants. */
function holdsAsMany(path: string, plants: number): boolean {
  let copy: DatabaseSync | undefined
  try {
    copy = openForReading(path)
    return readContents(copy).plants === plants
  } catch {
    return false
  } finally {
    copy?.close()
  }
}

/** A name that is free, or undefined when an earlier start has made the same copy. */
function findName(base: string, plants: number): string | undefined {
  for (let count = 1; ; count++) {
    const path = count === 1 ? base : `${base}-${count}`
    if (sizeOf(path) === undefined) return path
    if (holdsAsMany(path, plants)) return undefined
  }
}

/**
 * Before a store with plants gets a newer schema, keeps it as it is in a file beside it, such as
 * `plants.db.schema-1`. A start that failed and is tried again makes no second copy.
 * @throws StoreRefusedError when that cannot be done.
 */
export async function copyBeforeMigration(database: DatabaseSync, path: string): Promise<void> {
  const version = schemaVersionOf(database)
  if (version === 0 || version >= NEWEST_VERSION) return
  const contents = readContents(database)
  const copyPath = contents.plants > 0 && findName(`${path}.schema-${version}`, contents.plants)
  if (!copyPath) return
  const copy = createNewFile(copyPath)
  try {
    database.prepare('VACUUM INTO ?').run(copy.temporaryPath)
    await finishCopy(copy.temporaryPath, { contents })
    await copy.publish()
  } catch (error) {
    copy.discard()
    const reason = error instanceof Error ? error.message : String(error)
    throw new StoreRefusedError(
      `${path} needs a newer schema, but could not be copied to ${copyPath} before: ${reason}. ` +
        'Make room for a copy, and start again.',
      { cause: error },
    )
  }
}
