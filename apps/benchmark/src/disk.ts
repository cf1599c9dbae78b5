import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { medianOf } from './report/statistics.ts'

/** Beside the package, so that the disk measured is the one that holds the checkout. */
export const DATA_FOLDER = join(import.meta.dirname, '../.data')

const PAGE = Buffer.alloc(4096, 1)

/** Written over and over, as a write-ahead log is: an append would cost more and flatter us. */
const RING_PAGES = 64

const SYNC_LOOP_MS = 250

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

/** Makes a file; each call of `write` is pwrite(4 KiB) and fsync. */
export function makeSyncedFile(path: string) {
  const descriptor = openSync(path, 'w')
  writeSync(descriptor, Buffer.alloc(RING_PAGES * PAGE.length))
  fsyncSync(descriptor)
  let writes = 0
  return {
    write() {
      writeSync(descriptor, PAGE, 0, PAGE.length, (writes++ % RING_PAGES) * PAGE.length)
      fsyncSync(descriptor)
    },
    close: () => closeSync(descriptor),
  }
}

/** The median time of pwrite(4 KiB) and fsync in a folder, in ms. */
export function measureSync(folder: string): number {
  const path = join(folder, 'synced')
  const file = makeSyncedFile(path)
  const times: number[] = []
  const endsAt = performance.now() + SYNC_LOOP_MS
  for (let before = performance.now(); before < endsAt; before = performance.now()) {
    file.write()
    times.push(performance.now() - before)
  }
  file.close()
  rmSync(path)
  return medianOf(times)
}

/** Of /sys/block, whatever the disk's own. */
const SECTOR_BYTES = 512

/**
 * What was written so far to the disk of a folder, by whomever; undefined where Linux does not say.
 * What a process is said to have written is no help: whole folios count where one page was changed.
 */
export function readWrittenBytes(folder: string): number | undefined {
  const { dev } = statSync(folder, { bigint: true })
  const major = (dev >> 8n) & 0xfffn
  const minor = (dev & 0xffn) | ((dev >> 12n) & 0xfff00n)
  const path = `/sys/dev/block/${major}:${minor}/stat`
  if (!existsSync(path)) return undefined
  const sectors = readFileSync(path, 'utf8').trim().split(/\s+/)[6]
  return Number(sectors) * SECTOR_BYTES
}

/** Blocks this thread, as a slow sync does. */
export function block(ms: number): void {
  if (ms > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
