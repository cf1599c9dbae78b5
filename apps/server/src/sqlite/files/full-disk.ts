import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StoreUnavailableError } from '../../store/store.ts'
import { isFull, isOfFile } from './error-codes.ts'
import { sizeOf } from './measure-files.ts'

/** Enough for the shared-memory file and the first commits of a log. */
const LEAST_ROOM_BYTES = 1_048_576

/** SQLite extends the shared-memory file by writing a byte in each of its pages. */
const SHARED_MEMORY_PAGE_BYTES = 4_096

/** What stat(2) counts in. */
const SECTOR_BYTES = 512

interface Room {
  readonly freeBytes: number
  readonly blockBytes: number
}

/** undefined where it cannot be measured: the folder is missing, or may not be looked at. */
function measureRoom(path: string): Room | undefined {
  try {
    const { bavail, bsize } = statfsSync(dirname(path))
    return { freeBytes: bavail * bsize, blockBytes: bsize }
  } catch {
    return undefined
  }
}

/** A full disk made opening a store fail, whatever SQLite calls it. */
export class FullDiskError extends StoreUnavailableError {
  constructor(path: string, cause?: unknown) {
    const detail = `make room on the file system of ${dirname(path)}`
    super('the disk is full', { cause, detail })
  }
}

/**
 * What to throw where a full disk made opening a store fail, which SQLite also reports as an I/O
 * error or a file that cannot be opened; undefined after any other failure.
 */
export function describeFullDisk(error: unknown, path: string): FullDiskError | undefined {
  const room = isOfFile(error) ? measureRoom(path) : undefined
  const isWithoutRoom = room !== undefined && room.freeBytes < LEAST_ROOM_BYTES
  return isFull(error) || isWithoutRoom ? new FullDiskError(path, error) : undefined
}

/** Whether every byte of the shared-memory file has its place on the disk, and keeps it. */
function hasSharedMemory(path: string): boolean {
  const stats = statSync(`${path}-shm`, { throwIfNoEntry: false })
  // SQLite begins anew with the shared memory of a killed process, and fills it where there is a log.
  if (stats === undefined || (sizeOf(`${path}-wal`) ?? 0) === 0) return false
  return stats.size > 0 && stats.blocks * SECTOR_BYTES >= stats.size
}

/**
 * Where blocks are smaller than the pages of the shared-memory file, SQLite leaves holes in that
 * file, which it maps. On a full disk a write into a hole kills the process (SIGBUS).
 * @throws FullDiskError where that could happen.
 */
export function refuseHolesOnFullDisk(path: string): void {
  const room = measureRoom(path)
  if (room === undefined || room.blockBytes >= SHARED_MEMORY_PAGE_BYTES) return
  if (room.freeBytes < LEAST_ROOM_BYTES && !hasSharedMemory(path)) throw new FullDiskError(path)
}
