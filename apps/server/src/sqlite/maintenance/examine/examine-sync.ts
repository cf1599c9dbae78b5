import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type HealthCheck, healthChecksOf } from '../../../store/health-check.ts'
import { codeOf, FORBIDDEN } from '../../files/error-codes.ts'
import { fixOfError } from './fix-of-error.ts'

const SYNCS = 50

/** About what a commit of a few plants writes. */
const BLOCK = Buffer.alloc(4_096, 1)

/** Quicker than any disk: the sync ends in memory. */
const TOO_QUICK_MS = 0.02

/** Each commit waits for this, and every create for a commit. */
const SLOW_MS = 25

function timeSyncs(path: string): number[] {
  const descriptor = openSync(path, 'wx')
  try {
    return Array.from({ length: SYNCS }, () => {
      const start = performance.now()
      writeSync(descriptor, BLOCK)
      fsyncSync(descriptor)
      return performance.now() - start
    })
  } finally {
    closeSync(descriptor)
  }
}

const about = healthChecksOf('sync')

function judge(median: number): HealthCheck {
  const detail = `${median.toFixed(3)} ms for a write and its sync (median of ${SYNCS})`
  if (median < TOO_QUICK_MS) {
    const fix = 'keep the data on a disk; this looks like memory, which a power cut empties'
    return about.warning(detail, fix)
  }
  if (median > SLOW_MS) return about.warning(detail, 'a faster disk; every create waits for it')
  return about.ok(detail)
}

function describeFailure(error: unknown, folder: string): HealthCheck {
  const reason = (error as Error).message
  const elsewhere = `name a file in another folder in PLANT_STORE_DATABASE_URL`
  const fix = fixOfError(error, folder) ?? elsewhere
  return codeOf(error) === FORBIDDEN
    ? about.warning(`the disk was not measured: ${reason}`, fix)
    : about.failure(`cannot write in ${folder}: ${reason}`, fix)
}

/** Measures a small write with its sync in a folder, as every commit does it. */
export function examineSync(folder: string): HealthCheck {
  let scratch: string | undefined
  try {
    scratch = mkdtempSync(join(folder, '.doctor-'))
    const times = timeSyncs(join(scratch, 'sync')).toSorted((one, other) => one - other)
    return judge(times[SYNCS / 2] ?? 0)
  } catch (error) {
    return describeFailure(error, folder)
  } finally {
    if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true })
  }
}
