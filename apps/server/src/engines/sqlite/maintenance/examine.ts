import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type Examination, type HealthCheck, healthChecksOf } from '../../../store/health-check.ts'
import { operatorNames } from '../../../store/operator-names.ts'
import { StoreRefusedError, StoreUnavailableError, type TokenRecord } from '../../../store/store.ts'
import { readValue, sqliteVersionOf } from '../database/connect.ts'
import { readContents } from '../database/copy.ts'
import { openDatabase } from '../database/database.ts'
import { openForReading } from '../database/inspect.ts'
import { NEWEST_VERSION, schemaVersionOf } from '../database/migrations.ts'
import { readTokens } from '../database/tokens.ts'
import { sizeOf } from '../files/measure-files.ts'
import { findWideModes } from '../files/permissions.ts'
import { realPathOf } from '../files/real-path.ts'

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

/** Measures a small write with its sync in a folder, as every commit does it. */
function examineSync(folder: string): HealthCheck {
  const about = healthChecksOf('sync')
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
function examineRoom(folder: string): HealthCheck {
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
async function examineEngine(folder: string): Promise<HealthCheck> {
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

function examineSchema(database: DatabaseSync): HealthCheck {
  const about = healthChecksOf('schema')
  const version = schemaVersionOf(database)
  return version === NEWEST_VERSION
    ? about.ok(`version ${version}, the newest`)
    : about.warning(
        `version ${version}; this program has ${NEWEST_VERSION}`,
        `${operatorNames.migrate}, or start the server: either copies the store before`,
      )
}

const LARGE_LOG_BYTES = 268_435_456

function examineLog(path: string): HealthCheck {
  const about = healthChecksOf('log')
  const size = sizeOf(`${path}-wal`) ?? 0
  const detail = `${Math.ceil(size / 1024).toLocaleString('en-US')} KiB of write-ahead log`
  if (size < LARGE_LOG_BYTES) return about.ok(detail)
  return about.warning(detail, 'end exports that hang; the next commits then use the log again')
}

function examinePermissions(path: string): HealthCheck[] {
  const about = healthChecksOf('permissions')
  const { mode, uid } = statSync(path)
  const shown = (mode & 0o777).toString(8).padStart(3, '0')
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
  } catch {
    const fix = `chown ${path} to the server's user`
    return [about.failure(`${shown}, and owned by user ${uid}`, fix)]
  }
  const wide = findWideModes(path)
  if (wide.length === 0) return [about.ok(`${shown}, the store is for its owner only`)]
  return wide.map(({ path, mode, othersMay, fix }) =>
    about.warning(`${path} has mode ${mode}: other users can ${othersMay} it`, fix),
  )
}

function readTimes(database: DatabaseSync, tokens: readonly TokenRecord[]): number[] {
  const migrated = Number(readValue(database, 'SELECT max(applied_at) FROM migrations'))
  return [
    migrated,
    ...tokens.flatMap(({ createdAt, lastUsedAt }) => [createdAt, lastUsedAt ?? createdAt]),
  ]
}

const WITH_TOKENS = 2

async function examineFile(path: string): Promise<Examination> {
  const database = openForReading(path, 'quick_check')
  try {
    const { schemaVersion, plants } = readContents(database)
    const checks = [
      healthChecksOf('store').ok(
        `${path} holds ${plants.toLocaleString('en-US')} plants, undamaged`,
      ),
      examineSchema(database),
      examineLog(path),
      ...examinePermissions(path),
    ]
    if (schemaVersion < WITH_TOKENS) return { checks, tokens: [], recordedTimes: [] }
    const tokens = readTokens(database)
    return { checks, tokens, recordedTimes: readTimes(database, tokens) }
  } finally {
    database.close()
  }
}

/** @throws any error that says nothing of the store. */
function describeUnusable(error: unknown): HealthCheck {
  const about = healthChecksOf('store')
  if (error instanceof StoreRefusedError) {
    return about.failure(error.message, 'as it says; the server refuses it too')
  }
  if (!(error instanceof StoreUnavailableError)) throw error
  return about.failure(error.message, error.detail ?? 'again, in a moment')
}

async function examineExisting(path: string): Promise<Examination> {
  try {
    return await examineFile(path)
  } catch (error) {
    return { checks: [describeUnusable(error)], tokens: undefined, recordedTimes: [] }
  }
}

function examineMissing(path: string): Examination {
  const check = healthChecksOf('store').ok(`there is none in ${path} yet; the server makes it`)
  return { checks: [check], tokens: undefined, recordedTimes: [] }
}

/** The folder of a file, or what is there of it. */
function findFolder(path: string): string {
  let folder = dirname(path)
  while (sizeOf(folder) === undefined) folder = dirname(folder)
  return folder
}

/** Checks what "200 means durable" rests on for a SQLite store, without changing it. */
export async function examineSqlite(file: string): Promise<Examination> {
  const path = realPathOf(file)
  const folder = findFolder(path)
  const isMissing = sizeOf(path) === undefined && sizeOf(`${path}-wal`) === undefined
  const examination = isMissing ? examineMissing(path) : await examineExisting(path)
  return {
    ...examination,
    checks: [
      await examineEngine(folder),
      ...examination.checks,
      examineSync(folder),
      examineRoom(folder),
    ],
  }
}
