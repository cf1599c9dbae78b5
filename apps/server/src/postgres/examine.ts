import type { Pool } from 'pg'
import { type Examination, type HealthCheck, healthChecksOf } from '../store/health-check.ts'
import { readPostgresUrl } from './address.ts'
import { examineNodes } from './examine-nodes.ts'
import { examineStandby } from './examine-standby.ts'
import { examineWrites } from './examine-writes.ts'
import { fixOfSetting } from './fix-of-setting.ts'
import { NEWEST_VERSION, schemaVersionOf } from './migrations.ts'
import { describeOpenFailure } from './open-failure.ts'
import { type Database, findLossySettings, openDatabase } from './pool.ts'
import { FIX_OF_SHAPE } from './readiness.ts'
import { findDeviations } from './shape.ts'
import { createPostgresTokenStore } from './tokens.ts'

/** Enough for a median that one slow reply does not change. */
const ROUND_TRIPS = 20

/** A commit costs at least one round trip; beyond this, lone creates are slow. */
const SLOW_ROUND_TRIP_MS = 20

async function examineSettings(pool: Pool): Promise<HealthCheck[]> {
  const about = healthChecksOf('durability')
  const lossy = await findLossySettings(pool)
  if (lossy.length === 0) {
    return [about.ok('fsync, full_page_writes and synchronous_commit are on')]
  }
  return Promise.all(
    lossy.map(async (name) =>
      about.failure(
        `${name} = off: 200 would not mean durable`,
        await fixOfSetting(pool, name, 'on'),
      ),
    ),
  )
}

async function examineSchema({ pool, tables }: Database): Promise<HealthCheck> {
  const about = healthChecksOf('schema')
  const version = await schemaVersionOf(pool, tables)
  return version === NEWEST_VERSION
    ? about.ok(`version ${version}, the newest`)
    : about.failure(
        `version ${version}; this program has ${NEWEST_VERSION}`,
        version < NEWEST_VERSION ? 'plant-store-server migrate' : 'start the newer program',
      )
}

async function examineShape({ pool, tables }: Database): Promise<HealthCheck> {
  const about = healthChecksOf('tables')
  const deviations = await findDeviations(pool, tables)
  if (deviations.length === 0) return about.ok(`as the migrations make them, in ${tables.schema}`)
  return about.failure(deviations.join('; '), FIX_OF_SHAPE)
}

async function examineDistance(pool: Pool): Promise<HealthCheck> {
  const about = healthChecksOf('distance')
  const times: number[] = []
  for (let trip = 0; trip < ROUND_TRIPS; trip++) {
    const start = performance.now()
    await pool.query('SELECT 1')
    times.push(performance.now() - start)
  }
  const middle = times.sort((one, other) => one - other)[ROUND_TRIPS / 2] ?? 0
  const detail = `${middle.toFixed(1)} ms for a round trip`
  if (middle < SLOW_ROUND_TRIP_MS) return about.ok(detail)
  return about.warning(detail, 'run the server nearer to its database')
}

/** A server that only speaks PostgreSQL's protocol may have no such setting. */
const SERVER = `SELECT current_setting('server_version') AS version,
    current_setting('server_encoding', true) AS encoding`

async function examineServer(pool: Pool, place: string): Promise<HealthCheck> {
  const about = healthChecksOf('database')
  const { rows } = await pool.query(SERVER)
  const { version, encoding } = rows[0] ?? {}
  const detail = `PostgreSQL ${version} at ${place}`
  if (/^(?:utf-?8)?$/i.test(encoding ?? '')) return about.ok(detail)
  const fix = `createdb --encoding=UTF8 --template=template0 NAME, and that NAME in PLANT_STORE_DATABASE_URL`
  return about.failure(`${detail} is in ${encoding}; it must be in UTF8`, fix)
}

async function readClock(pool: Pool): Promise<number> {
  const { rows } = await pool.query('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now')
  return Number(rows[0]?.now)
}

function unreachable(place: string, error: unknown): Examination {
  const otherwise = `start the database, or fix its address in PLANT_STORE_DATABASE_URL`
  const reason = describeOpenFailure(error, place)
  const check = healthChecksOf('database').failedWith(reason, undefined, otherwise)
  return { checks: [check], tokens: undefined, recordedTimes: [] }
}

async function examine(database: Database): Promise<Examination> {
  const { pool, tables, place } = database
  const schema = await examineSchema(database)
  const isNewest = schema.level === 'ok'
  const checks = [
    await examineServer(pool, place),
    ...(await examineSettings(pool)),
    ...(await examineNodes(pool)),
    schema,
    ...(isNewest ? [await examineShape(database)] : []),
    ...(await examineWrites(database, isNewest)),
    ...(await examineStandby(pool)),
    await examineDistance(pool),
  ]
  const { list } = createPostgresTokenStore(pool, tables)
  const tokens = isNewest ? await list().catch(() => undefined) : undefined
  return { checks, tokens, recordedTimes: [], databaseTime: await readClock(pool) }
}

/** Checks what "200 means durable" rests on for a PostgreSQL store, without changing it. */
export async function examinePostgres(databaseUrl: string): Promise<Examination> {
  const address = readPostgresUrl(databaseUrl)
  let database: Database | undefined
  try {
    database = await openDatabase(address, { allowDataLoss: true })
    return await examine(database)
  } catch (error) {
    return unreachable(address.place, error)
  } finally {
    await database?.pool.end()
  }
}
