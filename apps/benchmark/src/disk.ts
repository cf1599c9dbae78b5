import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { medianOf } from './report/statistics.ts'

/** Beside the package, so that the disk measured is the one that holds the checkout. */
const DATA_FOLDER = join(import.meta.dirname, '../.data')

/** Makes an empty folder, which is removed when this process ends. */
export function makeDataFolder(): string {
  mkdirSync(DATA_FOLDER, { recursive: true })
  const folder = mkdtempSync(join(DATA_FOLDER, 'run-'))
  // PostgreSQL runs as a user of its own where the benchmark runs as root.
  chmodSync(folder, 0o755)
  // A PostgreSQL that is still ending may write meanwhile.
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** The median time to write 4 KiB over the same place of a file and sync them, in ms. */
export function measureSync(folder: string): number {
  const [path, page] = [join(folder, 'synced'), Buffer.alloc(4096, 1)]
  writeFileSync(path, page)
  const times = Array.from({ length: 1_000 }, () => {
    const before = performance.now()
    writeFileSync(path, page, { flag: 'r+', flush: true })
    return performance.now() - before
  })
  return medianOf(times)
}
