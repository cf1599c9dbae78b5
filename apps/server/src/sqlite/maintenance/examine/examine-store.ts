import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type Examination, type HealthCheck, healthChecksOf } from '../../../store/health-check.ts'
import { StoreUnavailableError, type TokenRecord } from '../../../store/store.ts'
import { describeCount } from '../../../text/describe-count.ts'
import { readValue } from '../../database/connect.ts'
import { readContents } from '../../database/copy.ts'
import { openForReading } from '../../database/inspect.ts'
import { NEWEST_VERSION, schemaVersionOf } from '../../database/migrations.ts'
import { readTokens } from '../../database/tokens.ts'
import { examineBackup } from './examine-backup.ts'
import { examineLog } from './examine-log.ts'
import { examinePermissions } from './examine-permissions.ts'
import { fixOfError } from './fix-of-error.ts'

function examineSchema(database: DatabaseSync): HealthCheck {
  const about = healthChecksOf('schema')
  const version = schemaVersionOf(database)
  return version === NEWEST_VERSION
    ? about.ok(`version ${version}, the newest`)
    : about.warning(
        `version ${version}; this program has ${NEWEST_VERSION}`,
        `plant-store-server migrate, or start the server: either copies the store before`,
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

function examineFile(path: string): Examination {
  const database = openForReading(path, 'quick_check')
  try {
    const { schemaVersion, plants } = readContents(database)
    const checks = [
      healthChecksOf('store').ok(`${path} holds ${describeCount(plants, 'plant')}, undamaged`),
      examineSchema(database),
      examineLog(path),
      ...examinePermissions(path),
      examineBackup(path, plants),
    ]
    if (schemaVersion < WITH_TOKENS) return { checks, tokens: [], recordedTimes: [] }
    const tokens = readTokens(database)
    return { checks, tokens, recordedTimes: readTimes(database, tokens) }
  } finally {
    database.close()
  }
}

/** Checks a store that is there, without changing it. */
export function examineStore(path: string): Examination {
  try {
    return examineFile(path)
  } catch (error) {
    const otherwise =
      error instanceof StoreUnavailableError
        ? `end the process that holds it: fuser -v ${path} shows it`
        : `restore a backup, or name another file in PLANT_STORE_DATABASE_URL`
    const fix = fixOfError(error, dirname(path))
    const failure = healthChecksOf('store').failedWith(error, fix, otherwise)
    return { checks: [failure], tokens: undefined, recordedTimes: [] }
  }
}
