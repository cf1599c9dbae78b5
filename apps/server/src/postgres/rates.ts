import { createHash } from 'node:crypto'
import type { Pool } from 'pg'
import type { SpendRates } from '../store/store.ts'
import type { Tables } from './tables.ts'

/** By the database's clock, so that all servers share one; the same within a statement. */
const NOW = '(extract(epoch FROM statement_timestamp()) * 1000000000)::bigint'

/** Never more than a whole burst, whoever sets the clock or the limit. $3: burst, $4: ns of a unit */
const MISSING = `greatest(0, least(kept.full_at_ns - ${NOW}, $3::bigint * $4::bigint))`

const GRANTED = `least(excluded.granted, ($3 * $4 - ${MISSING}) / $4)`

/**
 * The generic cell rate algorithm, for several units of several keys at once. In the order of keys,
 * so that several servers take their locks in one order. `granted` is kept because PostgreSQL 17
 * and older cannot return what a row was before.
 */
const spendIn = (tokenRates: string) => ({
  name: 'spend-rates',
  text: `INSERT INTO ${tokenRates} AS kept (token_sha256, full_at_ns, granted)
    SELECT token_sha256, ${NOW} + least(units, $3) * $4, least(units, $3)
    FROM unnest($1::bytea[], $2::bigint[]) AS asked (token_sha256, units)
    ORDER BY token_sha256
    ON CONFLICT (token_sha256) DO UPDATE
    SET full_at_ns = ${NOW} + ${MISSING} + ${GRANTED} * $4, granted = ${GRANTED}
    RETURNING token_sha256, granted, full_at_ns - ${NOW} AS full_in_ns`,
})

/** A rate that is full says as much as none. What is being spent now is left for another time. */
const forgetFullIn = (tokenRates: string) => `DELETE FROM ${tokenRates} WHERE token_sha256 IN (
    SELECT token_sha256 FROM ${tokenRates} WHERE full_at_ns < ${NOW} FOR UPDATE SKIP LOCKED
  )`

const FORGET_EVERY_MS = 60_000

interface Row {
  readonly token_sha256: Buffer
  readonly granted: string
  readonly full_in_ns: string
}

/** Of a fixed length, whatever a token is called. */
function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

/** Rates in a table that all servers over a PostgreSQL database share. */
export function createPostgresRates(pool: Pool, { tokenRates }: Tables): SpendRates {
  const spend = spendIn(tokenRates)
  const forgetFull = forgetFullIn(tokenRates)
  let forgetAt = 0

  return async (asked, { unitNs, burst }) => {
    const keys = new Map([...asked.keys()].map((key) => [digest(key).toString('hex'), key]))
    const { rows } = await pool.query<Row>({
      ...spend,
      values: [[...asked.keys()].map(digest), [...asked.values()], burst, unitNs],
    })
    if (performance.now() > forgetAt) {
      forgetAt = performance.now() + FORGET_EVERY_MS
      pool.query(forgetFull).catch(() => {})
    }
    return new Map(
      rows.map(({ token_sha256, granted, full_in_ns }) => [
        keys.get(token_sha256.toString('hex')) as string,
        { granted: Number(granted), fullInNs: Number(full_in_ns) },
      ]),
    )
  }
}
