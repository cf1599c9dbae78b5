import { accessSync, constants, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type Examination, type HealthCheck, healthChecksOf } from '../../../store/health-check.ts'
import { operatorNames } from '../../../store/operator-names.ts'
import { StoreRefusedError, type TokenRecord } from '../../../store/store.ts'
import { readContents } from '../database/contents.ts'
import { openForReading, readValue, sizeOf } from '../database/inspect.ts'
import { NEWEST_VERSION, schemaVersionOf } from '../database/migrations.ts'
import { readTokens } from '../database/tokens.ts'
import { findWideModes } from '../files/permissions.ts'
import { realPathOf } from '../files/real-path.ts'
import { examineEngine, examineRoom, examineSync } from './examine-folder.ts'

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

async function examineExisting(path: string): Promise<Examination> {
  try {
    return await examineFile(path)
  } catch (error) {
    if (!(error instanceof StoreRefusedError)) throw error
    const failure = healthChecksOf('store').failure(
      error.message,
      'as it says; the server refuses it too',
    )
    return { checks: [failure], tokens: undefined, recordedTimes: [] }
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
