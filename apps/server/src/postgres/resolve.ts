import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { OutcomeUnknownError, StoreRefusedError, StoreUnavailableError } from '../store/store.ts'
import { GuardedClient } from './client.ts'
import { aftermathOf, isOfSetup, isPassing, isReadOnly } from './failures.ts'
import { FollowingPool } from './following-pool.ts'
import { describeReason } from './open-failure.ts'

/** How long after its arrival a create may be repeated until its outcome is known; callers wait 10 s. */
const RESOLVE_LIMIT_MS = 8_000

/** A create that has waited this long is refused before its first attempt, while that is surely true. */
const WAIT_LIMIT_MS = 4_000

/** How long after that an attempt that began in time may still take: callers wait 10 s. */
const LAST_ATTEMPT_MS = 1_500

const PAUSE_MS = 25

/** SQLSTATE of a plain warning. */
const WARNING = '01000'

interface Notice {
  readonly code?: string | undefined
  readonly message?: string | undefined
}

/** Work on a connection; it calls `onStored` as soon as some of it is committed. */
export type Work<Result> = (client: PoolClient, onStored: () => void) => Promise<Result>

type Attempted<Result> =
  | { readonly result: Result }
  | { readonly error: unknown; readonly isStored: boolean }

/**
 * Runs work on a connection.
 * @throws when the wait for a synchronous standby was cancelled: PostgreSQL then reports success
 * with a warning (01000), for a commit that the standby does not have.
 */
async function runWarned<Result>(
  client: PoolClient,
  work: Work<Result>,
  onStored: () => void,
): Promise<Result> {
  let warning: Notice | undefined
  const onNotice = (notice: Notice) => {
    if (notice.code === WARNING) warning = notice
  }
  client.on('notice', onNotice)
  try {
    const result = await work(client, onStored)
    if (warning === undefined) return result
    onStored()
    throw new Error(`the database warned: ${warning.message}`)
  } finally {
    client.off('notice', onNotice)
  }
}

/** Cuts a connection whose reply would come too late for anybody. */
function cutAt(client: PoolClient, time: number): NodeJS.Timeout {
  const cut = () => client instanceof GuardedClient && client.abandon()
  return setTimeout(cut, Math.max(0, time - performance.now()))
}

async function attempt<Result>(
  pool: Pool,
  work: Work<Result>,
  lastTime: number,
): Promise<Attempted<Result>> {
  let client: PoolClient
  try {
    client = await pool.connect()
  } catch (error) {
    return { error, isStored: false }
  }
  const timer = cutAt(client, lastTime)
  let isStored = false
  try {
    const result = await runWarned(client, work, () => {
      isStored = true
    })
    client.release()
    return { result }
  } catch (error) {
    const isUnknown = aftermathOf(error) === 'unknown'
    // After an error of unknown outcome the connection is of no more use, nor to a standby.
    client.release(isUnknown || isReadOnly(error))
    return { error, isStored: isStored || isUnknown }
  } finally {
    clearTimeout(timer)
  }
}

/** Whether another attempt may come to something else. */
function isWorthRepeating(pool: Pool, error: unknown, mayBeStored: boolean): boolean {
  if (isReadOnly(error) && pool instanceof FollowingPool && pool.mayMove) return true
  return mayBeStored || aftermathOf(error) === 'again'
}

/**
 * Runs work that may be repeated without harm until its outcome is known: again after a conflict
 * of transactions, and again on a new connection when the old one was lost on the way.
 * `waitedMs` is how long the oldest caller has waited already.
 * @throws StoreUnavailableError when nothing was stored, OutcomeUnknownError when the time ran out
 * after a connection was lost, and any other error of the statement itself.
 */
export async function resolveOutcome<Result>(
  pool: Pool,
  work: Work<Result>,
  waitedMs = 0,
): Promise<Result> {
  if (waitedMs > WAIT_LIMIT_MS) throw new StoreUnavailableError('the database is too slow')
  const deadline = performance.now() + RESOLVE_LIMIT_MS - waitedMs
  let mayBeStored = false
  for (;;) {
    const outcome = await attempt(pool, work, deadline + LAST_ATTEMPT_MS)
    if ('result' in outcome) return outcome.result
    mayBeStored ||= outcome.isStored
    const isLate = performance.now() > deadline
    if (isLate || !isWorthRepeating(pool, outcome.error, mayBeStored)) {
      throw toStoreError(outcome.error, mayBeStored)
    }
    await sleep(PAUSE_MS)
  }
}

/** What an error of a statement or of a connection means for a store. */
export function toStoreError(cause: unknown, mayBeStored: boolean): unknown {
  if (mayBeStored) {
    return new OutcomeUnknownError('the database was lost during a commit', { cause })
  }
  if (cause instanceof StoreRefusedError) {
    return new StoreUnavailableError(cause.message, { cause })
  }
  const isOfStatement = aftermathOf(cause) === 'rolled_back' && !isPassing(cause)
  if (isOfStatement && !isOfSetup(cause)) return cause
  const detail = describeReason(cause)
  return new StoreUnavailableError('the database is not available', { cause, detail })
}
