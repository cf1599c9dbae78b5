import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { StoreRefusedError } from '../store/store.ts'
import { codeOf, FORBIDDEN } from './errors.ts'
import { describeForbidden } from './open-failure.ts'

/** In bytes; undefined when there is no such file. */
export function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size
}

/** Node 26 lets nothing be synced under its permission model, but by SQLite itself. */
export class SyncForbiddenError extends StoreRefusedError {
  override name = 'SyncForbiddenError'
}

const IS_WINDOWS = process.platform === 'win32'

/**
 * Brings a file's content, or a folder's list of names, to stable storage. Through a file handle,
 * because the permission model of Node 24 takes only the sync of a bare descriptor away. Windows syncs
 * only what is open for writing, and no folder: NTFS keeps its own log of names.
 * @throws SyncForbiddenError under the permission model of Node 26
 */
export async function syncPath(path: string): Promise<void> {
  if (IS_WINDOWS && statSync(path).isDirectory()) return
  const handle = await open(path, IS_WINDOWS ? 'r+' : 'r')
  try {
    await handle.sync()
  } catch (error) {
    if (codeOf(error) !== FORBIDDEN) throw error
    throw new SyncForbiddenError(
      `${path} cannot be brought to stable storage: this Node.js forbids it under --permission`,
      { fix: 'this command without --permission', cause: error },
    )
  } finally {
    await handle.close()
  }
}

/**
 * Makes the missing folders of a file, for their owner only. One at a time, because Node's recursive
 * mkdir never ends on a file system that takes no folders, such as /proc.
 */
export async function createFolderOf(path: string): Promise<void> {
  const folder = dirname(path)
  if (sizeOf(folder) !== undefined) return
  await createFolderOf(folder)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it meanwhile.
    if (codeOf(error) !== 'EEXIST') throw error
  }
  // A new folder survives a power cut only once the folder that lists it is synced.
  await syncPath(dirname(folder))
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

/**
 * Makes a file for its owner only. `write` fills it under a temporary name; then it is synced and
 * gets its own, in one step and on stable storage. Nothing is left where that fails.
 * @throws the error of link(2): EEXIST when the name is taken, EPERM where links do not exist.
 */
export async function writeNewFile<Result>(
  path: string,
  write: (temporaryPath: string) => Result | Promise<Result>,
): Promise<Result> {
  const temporaryPath = `${path}.${randomBytes(4).toString('hex')}.partial`
  createOwnFile(temporaryPath)
  let result: Result
  try {
    result = await write(temporaryPath)
    await syncPath(temporaryPath)
    // rename would replace what stands there already; link never does.
    linkSync(temporaryPath, path)
  } finally {
    for (const companion of COMPANIONS) rmSync(temporaryPath + companion, { force: true })
  }
  await syncPath(dirname(path))
  return result
}

/** Whether an error says that there is nothing at a path; any other says that one may not look. */
function isAbsence(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'
}

function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch (error) {
    if (isAbsence(error) || codeOf(error) === 'EINVAL') return undefined
    throw error
  }
}

function followFolder(folder: string): string {
  try {
    return follow(folder)
  } catch (error) {
    // Node's permission model may permit a path and forbid a look at the folders above it.
    if (codeOf(error) === FORBIDDEN) return folder
    throw error
  }
}

function follow(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    // Links in a circle end here: they are an error of their own.
    if (!isAbsence(error)) throw error
  }
  const folder = followFolder(dirname(path))
  const entry = join(folder, basename(path))
  const target = targetOf(entry)
  return target === undefined ? entry : follow(resolve(folder, target))
}

/**
 * The absolute path of a file without symbolic links, whether the file exists or not. SQLite keeps
 * the write-ahead log beside the file that a link leads to, so only this path leads to the log.
 * @throws StoreRefusedError where a folder cannot be searched or links lead in a circle.
 */
export function realPathOf(file: string): string {
  const path = resolve(file)
  try {
    return follow(path)
  } catch (error) {
    if (codeOf(error) === FORBIDDEN) throw describeForbidden(error, path)
    const reason = (error as Error).message
    throw new StoreRefusedError(`${path} cannot be reached: ${reason}`, {
      code: 'access',
      fix: 'let the user that runs this program search each folder of it, or name another file in PLANT_STORE_DATABASE_URL',
      cause: error,
    })
  }
}
