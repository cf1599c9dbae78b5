import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, linkSync, openSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncPath } from './sync-files.ts'

/** A file that is written under a temporary name beside the one that it will have. */
export interface NewFile {
  readonly temporaryPath: string
  /**
   * Syncs the file and gives it its name, in one step and on stable storage.
   * @throws the error of link(2): EEXIST when the name is taken, EPERM where links do not exist.
   */
  publish(): Promise<void>
  /** Removes what is left under the temporary name. */
  discard(): void
}

const OWNER_ONLY = 0o600

/** What the names of a database and of all that SQLite may leave beside it end with. */
export const COMPANIONS = ['', '-wal', '-shm', '-journal']

/**
 * Makes an empty file that only its owner may read and write, whatever the umask. What SQLite puts
 * beside a database gets the mode of the database.
 * @throws the error of open(2): EEXIST when something has that name.
 */
export function createOwnFile(path: string): void {
  closeSync(openSync(path, 'wx', OWNER_ONLY))
  // The umask may have taken even from the owner.
  chmodSync(path, OWNER_ONLY)
}

/** Makes an empty file for its owner only. */
export function createNewFile(path: string): NewFile {
  const temporaryPath = `${path}.${randomBytes(4).toString('hex')}.partial`
  createOwnFile(temporaryPath)

  function discard(): void {
    for (const companion of COMPANIONS) rmSync(temporaryPath + companion, { force: true })
  }

  return {
    temporaryPath,
    async publish() {
      await syncPath(temporaryPath)
      // rename would replace what stands there already; link never does.
      linkSync(temporaryPath, path)
      discard()
      await syncPath(dirname(path))
    },
    discard,
  }
}
