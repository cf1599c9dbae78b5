import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Beside the package, so that the disk measured is the one that holds the checkout. */
const DATA_FOLDER = join(import.meta.dirname, '../.data')

/** Makes an empty folder, which is removed when this process ends. */
export function makeDataFolder(): string {
  mkdirSync(DATA_FOLDER, { recursive: true })
  const folder = mkdtempSync(join(DATA_FOLDER, 'run-'))
  // PostgreSQL runs as a user of its own where the benchmark runs as root.
  chmodSync(folder, 0o755)
  // A PostgreSQL that was told to end just now may still be at it.
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}
