import { statSync } from 'node:fs'
import { stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { SqliteMeasures } from '../../store/observer.ts'
import { readLastBackupTime } from './last-backup.ts'

/** In bytes; undefined when there is no such file. */
export function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size
}

async function bytesOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0
}

/** Sizes that only the file system knows, asked without holding up the event loop. */
export async function measureFiles(path: string): Promise<SqliteMeasures> {
  const [databaseBytes, logBytes, disk, lastBackupAt] = await Promise.all([
    bytesOf(path),
    bytesOf(`${path}-wal`),
    statfs(dirname(path)),
    readLastBackupTime(path),
  ])
  return { databaseBytes, logBytes, diskFreeBytes: disk.bavail * disk.bsize, lastBackupAt }
}
