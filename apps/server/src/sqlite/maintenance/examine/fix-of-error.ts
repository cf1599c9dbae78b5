import { closeSync, openSync, statfsSync } from 'node:fs'
import { userName } from '../../../process/user-name.ts'
import { codeOf, FORBIDDEN } from '../../files/error-codes.ts'
import { FullDiskError } from '../../files/full-disk.ts'

const MEBIBYTE = 1_048_576

/** What a store should have free, so that there is time to react before it is full. */
export const ENOUGH_ROOM_BYTES = 1_024 * MEBIBYTE

/** Bytes that this user may still fill. */
export function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

/** A size in MiB for people, rounded down. */
export function describeMebibytes(bytes: number): string {
  return `${Math.floor(bytes / MEBIBYTE).toLocaleString('en-US')} MiB`
}

/** How much to free, so that the folder has enough. */
export function fixOfRoom(folder: string): string {
  const missing = ENOUGH_ROOM_BYTES - freeBytesOf(folder)
  return `free ${describeMebibytes(Math.max(missing, 0) + MEBIBYTE - 1)} on the file system of ${folder}, or make it larger`
}

/** Primary result codes of SQLite (https://sqlite.org/rescode.html). */
const SQLITE_IOERR = 10
const SQLITE_FULL = 13
const SQLITE_CANTOPEN = 14

/** SQLite opens a database, its log and its shared memory. */
const FILES_OF_A_STORE = 3

/** The code with which this process cannot open as many files as a store needs. */
function tryToOpen(folder: string): string | undefined {
  const descriptors: number[] = []
  try {
    for (let count = 0; count < FILES_OF_A_STORE; count++) descriptors.push(openSync(folder, 'r'))
    return undefined
  } catch (error) {
    return codeOf(error)
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor)
  }
}

/** SQLite's error as one of the operating system, which it does not show. */
function systemCodeOf(error: object, folder: string): string | undefined {
  if (!('errcode' in error)) return codeOf(error)
  const code = Number(error.errcode) & 0xff
  if (code === SQLITE_FULL) return 'ENOSPC'
  // A shared-memory file that cannot grow is an I/O error for SQLite.
  if (code === SQLITE_IOERR) return freeBytesOf(folder) < MEBIBYTE ? 'ENOSPC' : 'EIO'
  return code === SQLITE_CANTOPEN ? tryToOpen(folder) : undefined
}

/** What helps, by the code of the operating system. */
const FIXES: Readonly<Record<string, (folder: string) => string>> = {
  ENOSPC: fixOfRoom,
  // EDQUOT, for which Node has no name.
  'Unknown system error -122': (folder) =>
    `raise the disk quota of user ${userName()} for ${folder} (setquota)`,
  EROFS: (folder) =>
    `mount the file system of ${folder} for writing (findmnt --target ${folder} shows it); after an I/O error the kernel mounts it read-only, and dmesg says so`,
  EMFILE: () =>
    'raise the limit on open files: LimitNOFILE=65536 in a systemd unit, or ulimit -n 65536',
  ENFILE: () => 'raise the limit on open files of the whole machine: sysctl fs.file-max',
  EFBIG: () =>
    'raise the limit on the size of a file: LimitFSIZE=infinity in a systemd unit, or ulimit -f unlimited',
  EIO: () => 'replace the disk if dmesg or smartctl report faults of it',
  [FORBIDDEN]: () => `plant-store-server doctor without Node's flag --permission`,
}

/**
 * What helps against an error in a folder, be it of the operating system or of SQLite; undefined
 * where its codes do not say.
 */
export function fixOfError(error: unknown, folder: string): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof FullDiskError) return fixOfRoom(folder)
  const code = systemCodeOf(error, folder)
  return FIXES[code ?? '']?.(folder) ?? fixOfError(error.cause, folder)
}
