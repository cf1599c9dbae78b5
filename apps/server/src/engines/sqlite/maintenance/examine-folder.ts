import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type HealthCheck, healthChecksOf } from '../../../store/health-check.ts'
import { operatorNames } from '../../../store/operator-names.ts'
import { openDatabase } from '../database/database.ts'
import { sqliteVersionOf } from '../database/inspect.ts'

const SYNCS = 50

/** About what a commit of a few plants writes. */
const BLOCK = Buffer.alloc(4_096, 1)

/** Quicker than any disk: the sync ends in memory. */
const TOO_QUICK_MS = 0.02

/** Each commit waits for this, and every create for a commit. */
const SLOW_MS = 25

const about = healthChecksOf('sync')

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

/** Measures a small write with its sync in a folder, as every commit does it. */
export function examineSync(folder: string): HealthCheck {
  let scratch: string | undefined
  try {
    scratch = mkdtempSync(join(folder, '.doctor-'))
    const times = timeSyncs(join(scratch, 'sync')).toSorted((one, other) => one - other)
    const median = times[SYNCS / 2] ?? 0
    const detail = `${median.toFixed(3)} ms for a write and its sync (median of ${SYNCS})`
    if (median < TOO_QUICK_MS) {
      const fix = 'keep the data on a disk; this looks like memory, which a power cut empties'
      return about.warning(detail, fix)
    }
    if (median > SLOW_MS) return about.warning(detail, 'a faster disk; every create waits for it')
    return about.ok(detail)
  } catch (error) {
    return about.failure(
      `cannot write in ${folder}: ${(error as Error).message}`,
      'let the user that runs the server write there',
    )
  } finally {
    if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true })
  }
}

const MEBIBYTE = 1_048_576
const LITTLE_ROOM = 1_024 * MEBIBYTE
const NO_ROOM = 64 * MEBIBYTE

/** Room that this user may still fill. */
export function examineRoom(folder: string): HealthCheck {
  const room = healthChecksOf('disk')
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const detail = `${Math.floor(free / MEBIBYTE).toLocaleString('en-US')} MiB free in ${folder}`
  const fix = 'make room; on a full disk every create is answered 503'
  if (free < NO_ROOM) return room.failure(detail, fix)
  return free < LITTLE_ROOM ? room.warning(detail, fix) : room.ok(detail)
}

/** `f_type` of file systems over a network (statfs(2)), whose locks SQLite cannot rely on. */
const NETWORK_FILE_SYSTEMS = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x01021997, '9P'],
])

/** Whether SQLite keeps its promises in a folder: tried with a scratch store that is removed. */
export async function examineEngine(folder: string): Promise<HealthCheck> {
  const about = healthChecksOf('engine')
  const network = NETWORK_FILE_SYSTEMS.get(statfsSync(folder).type)
  if (network !== undefined) {
    return about.failure(
      `${folder} is on ${network}`,
      'keep the file on a local disk, or use PostgreSQL (https://sqlite.org/wal.html)',
    )
  }
  let scratch: string | undefined
  try {
    scratch = mkdtempSync(join(folder, '.doctor-'))
    const database = await openDatabase(join(scratch, 'scratch.db'))
    const version = sqliteVersionOf(database)
    database.close()
    return about.ok(`SQLite ${version}; write-ahead log and synchronous=FULL hold in ${folder}`)
  } catch (error) {
    const fix = `another folder in ${operatorNames.databaseUrl}, on a local disk`
    return about.failure((error as Error).message, fix)
  } finally {
    if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true })
  }
}
