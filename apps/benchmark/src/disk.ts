import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { medianOf } from './report/statistics.ts'

const PAGE = Buffer.alloc(4096, 1)

/** Written over and over, as a write-ahead log is: an append would cost more and flatter us. */
const RING_PAGES = 64

const FSYNC_LOOP_MS = 250

/** The median time of pwrite(4 KiB) and fsync in a folder. */
export function measureFsync(folder: string): number {
  const path = join(folder, 'fsync')
  const descriptor = openSync(path, 'w')
  writeSync(descriptor, Buffer.alloc(RING_PAGES * PAGE.length))
  fsyncSync(descriptor)
  const times: number[] = []
  const endsAt = performance.now() + FSYNC_LOOP_MS
  for (let before = performance.now(); before < endsAt; before = performance.now()) {
    writeSync(descriptor, PAGE, 0, PAGE.length, (times.length % RING_PAGES) * PAGE.length)
    fsyncSync(descriptor)
    times.push(performance.now() - before)
  }
  closeSync(descriptor)
  rmSync(path)
  return medianOf(times)
}
