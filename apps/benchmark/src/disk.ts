import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { medianOf } from './report/statistics.ts'
import { makeSyncedFile } from './synced-file.ts'

const FSYNC_LOOP_MS = 250

/** The median time of pwrite(4 KiB) and fsync in a folder. */
export function measureFsync(folder: string): number {
  const path = join(folder, 'fsync')
  const file = makeSyncedFile(path)
  const times: number[] = []
  const endsAt = performance.now() + FSYNC_LOOP_MS
  for (let before = performance.now(); before < endsAt; before = performance.now()) {
    file.write()
    times.push(performance.now() - before)
  }
  file.close()
  rmSync(path)
  return medianOf(times)
}
