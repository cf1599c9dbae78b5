import type { DatabaseSync } from 'node:sqlite'
import type { StoreContents } from '../../store/engine.ts'
import { StoreRefusedError } from '../../store/store.ts'
import { describeCount } from '../../text/describe-count.ts'
import { sizeOf } from '../files/measure-files.ts'
import { createNewFile } from '../files/new-file.ts'
import { connect, readValue } from './connect.ts'
import { openForReading, refuseCorrupt } from './inspect.ts'
import { removeLeftovers } from './leftovers.ts'
import { hasTable, NEWEST_VERSION, schemaVersionOf } from './migrations.ts'
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

/**
 * Checks a copy to its last page, and makes it one file that needs no write-ahead log beside it.
 * @throws StoreRefusedError when it does not hold what it should.
 */
export function finishCopy(path: string, expected: StoreContents): void {
  const copy = connect(path)
  try {
    copy.exec('PRAGMA journal_mode = delete')
    refuseStrangeSchema(copy, path)
    removeLeftovers(copy)
    refuseCorrupt(copy, path, 'integrity_check', 'another disk')
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
    finishCopy(copy.temporaryPath, contents)
    await copy.publish()
  } catch (error) {
    copy.discard()
    const reason = error instanceof Error ? error.message : String(error)
    throw new StoreRefusedError(
      `${path} needs a newer schema, but could not be copied to ${copyPath} before: ${reason}`,
      { cause: error, fix: 'make room for a copy, and start again' },
    )
  }
}
