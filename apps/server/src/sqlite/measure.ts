import { rmSync, writeFileSync } from 'node:fs'
import { readFile, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { SqliteMeasures } from '../store/observer.ts'
import { createOwnFile } from './files.ts'

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

/** The last good backup of a store, as JSON in a file beside it. */
export interface LastBackup {
  /** An ISO 8601 time. */
  readonly finishedAt: string
  readonly file: string
  readonly plants: number
}

function noteOf(path: string): string {
  return `${path}.last-backup`
}

/** Notes the last good backup of the store at `path`, in the place of the note before it. */
export function noteBackup(path: string, backup: LastBackup): void {
  rmSync(noteOf(path), { force: true })
  createOwnFile(noteOf(path))
  writeFileSync(noteOf(path), `${JSON.stringify(backup)}\n`)
}

/** When the last good backup of a store ended, in ms; undefined where none is known. */
export async function readLastBackupTime(path: string): Promise<number | undefined> {
  try {
    const { finishedAt } = JSON.parse(await readFile(noteOf(path), 'utf8')) as LastBackup
    const time = Date.parse(finishedAt)
    return Number.isNaN(time) ? undefined : time
  } catch {
    // A note that cannot be read must never stop a server.
    return undefined
  }
}
