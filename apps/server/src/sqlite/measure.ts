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

/** Where the last good backup of a store is noted, as JSON in a file beside it. */
function noteOf(path: string): string {
  return `${path}.last-backup`
}

/** Notes a good backup, in the place of the note before it; gives the reason where that failed. */
export function noteBackup(path: string, file: string, plants: number): string | undefined {
  const note = noteOf(path)
  try {
    rmSync(note, { force: true })
    createOwnFile(note)
    const finishedAt = new Date().toISOString()
    writeFileSync(note, `${JSON.stringify({ finishedAt, file, plants })}\n`)
    return undefined
  } catch (error) {
    // Who may read a store need not be allowed to write beside it.
    return (error as Error).message
  }
}

/** When the last good backup of a store ended, in ms; undefined where none is known. */
export async function readLastBackupTime(path: string): Promise<number | undefined> {
  try {
    const { finishedAt } = JSON.parse(await readFile(noteOf(path), 'utf8'))
    const time = Date.parse(finishedAt)
    return Number.isNaN(time) ? undefined : time
  } catch {
    // A note that cannot be read must never stop a server.
    return undefined
  }
}
