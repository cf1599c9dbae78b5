import { accessSync, constants, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { userName } from '../process/user-name.ts'
import { StoreRefusedError, StoreUnavailableError } from '../store/store.ts'
import { codeOf, FORBIDDEN, isFull, isOfAccess, isOfFile, toStoreError } from './errors.ts'

export function describeForbidden(cause: unknown, path: string): StoreRefusedError {
  return new StoreRefusedError(`${path} cannot be opened: Node's permission model forbids it`, {
    code: 'access',
    fix: '--allow-fs-read and --allow-fs-write for its folder, or that of the file that it is a link to',
    cause,
  })
}

/** @throws StoreRefusedError for what is there and is no file, such as a folder or a device. */
export function refuseNoFile(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined || stats.isFile()) return
  const kind = stats.isDirectory() ? 'a folder' : 'no plain file'
  throw new StoreRefusedError(`${path} cannot be read as a plant store: it is ${kind}`, {
    code: 'no_file',
    fix: 'a file in PLANT_STORE_DATABASE_URL',
  })
}

/** The nearest folder of a file that is there; a file where a folder should be passes for one. */
function nearestOf(path: string): string {
  const folder = dirname(path)
  return statSync(folder, { throwIfNoEntry: false }) === undefined ? nearestOf(folder) : folder
}

/** The first of a store's folder and files that this user may not use, and why. */
function findObstacle(path: string): string | undefined {
  const { R_OK, W_OK, X_OK } = constants
  const folder = nearestOf(path)
  if (!statSync(folder).isDirectory()) return `${folder} is no folder`
  for (const [place, access] of [
    [folder, W_OK | X_OK],
    [path, R_OK | W_OK],
    [`${path}-wal`, R_OK | W_OK],
    [`${path}-shm`, R_OK | W_OK],
  ] as const) {
    try {
      accessSync(place, access)
    } catch (error) {
      const code = codeOf(error)
      if (code !== 'ENOENT') return `${place} cannot be used by user ${userName()} (${code})`
    }
  }
  return undefined
}

/** What the failure to open a store means, with the folder or file that stands in the way. */
export function describeOpenFailure(error: unknown, path: string): unknown {
  if (codeOf(error) === FORBIDDEN) return describeForbidden(error, path)
  const full = describeFullDisk(error, path)
  if (full !== undefined) return full
  const isOfSystem = (error as { syscall?: unknown } | null)?.syscall !== undefined
  if (!isOfSystem && !isOfAccess(error)) return toStoreError(error, false)
  const obstacle = findObstacle(path) ?? `user ${userName()} cannot use it: ${error}`
  return new StoreRefusedError(`${path} cannot be opened: ${obstacle}`, {
    code: 'access',
    fix: 'let this user write that folder and the files in it, or name another file in PLANT_STORE_DATABASE_URL',
    cause: error,
  })
}

/** Enough for the shared-memory file and the first commits of a log. */
const LEAST_ROOM_BYTES = 1_048_576

function freeBytesOf(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(dirname(path))
    return bavail * bsize
  } catch {
    // The folder is missing, or may not be looked at.
    return Number.POSITIVE_INFINITY
  }
}

/**
 * What to throw where a full disk made opening a store fail, which SQLite also reports as an I/O
 * error or a file that cannot be opened; undefined after any other failure.
 */
export function describeFullDisk(error: unknown, path: string): StoreUnavailableError | undefined {
  const isWithoutRoom = isOfFile(error) && freeBytesOf(path) < LEAST_ROOM_BYTES
  if (!isFull(error) && !isWithoutRoom) return undefined
  const fix = `make room on the file system of ${dirname(path)}`
  return new StoreUnavailableError('the disk is full', { code: 'full', fix, cause: error })
}
