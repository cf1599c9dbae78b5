import type { Pool } from 'pg'
import { type Examination, type Finding, findingsAbout } from '../finding.ts'
import { readPostgresUrl } from './address.ts'
import { NEWEST_VERSION, schemaVersionOf } from './migrations.ts'
import { findLossySettings, openPool } from './pool.ts'
import { createPostgresTokenStore } from './tokens.ts'

/** Enough for a median that one slow answer does not move. */
const ROUND_TRIPS = 20

/** A commit costs at least one round trip; beyond this, lone creates are slow. */
const SLOW_ROUND_TRIP_MS = 20

async function examineSettings(pool: Pool): Promise<Finding> {
  const about = findingsAbout('durability')
  const lossy = await findLossySettings(pool)
  if (lossy.length === 0) return about.ok('fsync, full_page_writes and synchronous_commit are on')
  return about.failure(`${lossy.join(', ')} = off: 200 would not mean durable`, 'set them to on')
}

async function examineWrites(pool: Pool): Promise<Finding> {
  const about = findingsAbout('writes')
  const { rows } = await pool.query('SHOW transaction_read_only')
  return rows[0]?.transaction_read_only === 'off'
    ? about.ok('taken')
    : about.failure('the server is read-only', 'connect to the primary')
}

async function examineSchema(pool: Pool): Promise<Finding> {
  const about = findingsAbout('schema')
  const version = await schemaVersionOf(pool)
  return version === NEWEST_VERSION
    ? about.ok(`version ${version}, the newest`)
    : about.failure(
        `version ${version}; this program has ${NEWEST_VERSION}`,
        version < NEWEST_VERSION ? 'plant-store-server migrate' : 'start the newer program',
      )
}

async function examineDistance(pool: Pool): Promise<Finding> {
  const about = findingsAbout('distance')
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

async function readClock(pool: Pool): Promise<number> {
  const { rows } = await pool.query('SELECT extract(epoch FROM now()) * 1000 AS now')
  return Number(rows[0]?.now)
}

function unreachable(place: string, error: unknown): Examination {
  const reason = error instanceof Error ? error.message || error.name : String(error)
  const finding = findingsAbout('database').failure(
    `${place} cannot be used: ${reason}`,
    'start the database, or mend its address in PLANT_STORE_DATABASE_URL',
  )
  return { findings: [finding], tokens: undefined, recordedTimes: [] }
}

/** Checks what "200 means durable" rests on for a PostgreSQL store, without changing it. */
export async function examinePostgres(databaseUrl: string): Promise<Examination> {
  const address = readPostgresUrl(databaseUrl)
  const pool = openPool({ address, allowDataLoss: true })
  try {
    const schema = await examineSchema(pool)
    const findings = [
      findingsAbout('database').ok(address.place),
      await examineSettings(pool),
      await examineWrites(pool),
      schema,
      await examineDistance(pool),
    ]
    const tokens = schema.level === 'ok' ? await createPostgresTokenStore(pool).list() : undefined
    return { findings, tokens, recordedTimes: [await readClock(pool)] }
  } catch (error) {
    return unreachable(address.place, error)
  } finally {
    await pool.end()
  }
}
