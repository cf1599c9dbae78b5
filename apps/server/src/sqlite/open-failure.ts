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
export function nearestOf(path: string): string {
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

/** SQLite extends the shared-memory file by writing a byte in each of its pages. */
const SHARED_MEMORY_PAGE_BYTES = 4_096

/** What stat(2) counts blocks in. */
const SECTOR_BYTES = 512

/** Enough for the shared-memory file and the first commits of a log. */
const LEAST_ROOM_BYTES = 1_048_576

/** In bytes, with those of a block of the file system. */
function roomOf(path: string): { readonly free: number; readonly block: number } {
  try {
    const { bavail, bsize } = statfsSync(dirname(path))
    return { free: bavail * bsize, block: bsize }
  } catch {
    // The folder is missing, or may not be looked at.
    return { free: Number.POSITIVE_INFINITY, block: Number.POSITIVE_INFINITY }
  }
}

function fullDiskError(path: string, cause?: unknown, code = 'full'): StoreUnavailableError {
  const fix = `make room on the file system of ${dirname(path)}`
  return new StoreUnavailableError('the disk is full', { code, fix, cause })
}

/**
 * What to throw where a full disk made opening a store fail, which SQLite also reports as an I/O
 * error or a file that cannot be opened; undefined after any other failure.
 */
export function describeFullDisk(
  error: unknown,
  path: string,
  code?: string,
): StoreUnavailableError | undefined {
  const isWithoutRoom = isOfFile(error) && roomOf(path).free < LEAST_ROOM_BYTES
  return isFull(error) || isWithoutRoom ? fullDiskError(path, error, code) : undefined
}

/**
 * Where blocks are smaller than the pages of the shared-memory file, SQLite leaves holes in it, and
 * a write into a hole on a full disk kills the process (SIGBUS).
 * @throws StoreUnavailableError where that could happen: without a file that has all its blocks.
 */
export function refuseHolesOnFullDisk(path: string): void {
  const { free, block } = roomOf(path)
  if (block >= SHARED_MEMORY_PAGE_BYTES || free >= LEAST_ROOM_BYTES) return
  const [shared, log] = [`${path}-shm`, `${path}-wal`].map((file) =>
    statSync(file, { throwIfNoEntry: false }),
  )
  // Without a log SQLite begins anew with the shared memory of a killed process.
  const isWhole = (log?.size ?? 0) > 0 && shared !== undefined && shared.size > 0
  if (!isWhole || shared.blocks * SECTOR_BYTES < shared.size) throw fullDiskError(path)
}
