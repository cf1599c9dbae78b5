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

const PERMISSIONS = 0o777

/** What SQLite may leave beside a database. */
const COMPANIONS = ['', '-wal', '-shm', '-journal']

/** Makes an empty file with the permissions that `mode` has. */
export function createNewFile(path: string, mode: number): NewFile {
  const temporaryPath = `${path}.${randomBytes(4).toString('hex')}.partial`
  closeSync(openSync(temporaryPath, 'wx', mode & PERMISSIONS))
  // The mode of open is cut by the umask, and what the file will hold is as secret as its source.
  chmodSync(temporaryPath, mode & PERMISSIONS)

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
