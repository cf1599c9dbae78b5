import type { DatabaseSync } from 'node:sqlite'
import { StoreRefusedError } from '../../../store/store.ts'
import { createNewFile } from '../files/new-file.ts'
import { readContents } from './contents.ts'
import { finishCopy } from './copy.ts'
import { openForReading, sizeOf } from './inspect.ts'
import { NEWEST_VERSION, schemaVersionOf } from './migrations.ts'

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
