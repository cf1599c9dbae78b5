import { setTimeout as sleep } from 'node:timers/promises'
import type { PoolClient } from 'pg'
import { OutcomeUnknownError, StoreRefusedError, StoreUnavailableError } from '../store/store.ts'
import { aftermathOf, explain, isPassing, isReadOnly } from './errors.ts'
import { type Connections, cut } from './hosts.ts'

/** How long after its arrival a create may be repeated until its outcome is known; callers wait 10 s. */
const RESOLVE_LIMIT_MS = 8_000

/** A create that has waited this long is refused before its first attempt, while that is surely true. */
const WAIT_LIMIT_MS = 4_000

/** How long after that an attempt that began in time may still take: callers wait 10 s. */
const LAST_ATTEMPT_MS = 1_500

const PAUSE_MS = 25

/** SQLSTATE of a plain warning. */
const WARNING = '01000'

type Notice = { readonly [Field in 'code' | 'message']?: string | undefined }

/** Work on a connection; it calls `onStored` as soon as some of it is committed. */
export type Work<Result> = (client: PoolClient, onStored: () => void) => Promise<Result>

type Attempted<Result> =
  | { readonly result: Result }
  | { readonly error: unknown; readonly isStored: boolean }

/**
 * Runs work on a connection. Its outcome is unknown when the wait for a synchronous standby was cut
 * off: PostgreSQL then reports success, with a warning, for a commit that the standby does not have.
 */
async function attempt<Result>(
  connections: Connections,
  work: Work<Result>,
  lastTime: number,
): Promise<Attempted<Result>> {
  let client: PoolClient
  try {
    client = await connections.connect()
  } catch (error) {
    return { error, isStored: false }
  }
  let isStored = false
  let warning: string | undefined
  const onNotice = ({ code, message }: Notice) => {
    if (code === WARNING) warning = message
  }
  client.on('notice', onNotice)
  // Later its response would come too late for anybody.
  const timer = setTimeout(cut, Math.max(0, lastTime - performance.now()), client)
  try {
    const result = await work(client, () => {
      isStored = true
    })
    if (warning !== undefined) throw new Error(`the database warned: ${warning}`)
    connections.release(client)
    return { result }
  } catch (error) {
    connections.release(client, error)
    return { error, isStored: isStored || aftermathOf(error) === 'unknown' }
  } finally {
    client.off('notice', onNotice)
    clearTimeout(timer)
  }
}

/**
 * Runs work that may be repeated without harm until its outcome is known: again after a conflict
 * of transactions, and again on a new connection when the old one was lost on the way.
 * `waitedMs` is how long the oldest caller has waited already.
 * @throws StoreUnavailableError when nothing was stored, OutcomeUnknownError when the time ran out
 * after a connection was lost, and any other error of the statement itself.
 */
export async function resolveOutcome<Result>(
  connections: Connections,
  work: Work<Result>,
  waitedMs = 0,
): Promise<Result> {
  if (waitedMs > WAIT_LIMIT_MS) throw new StoreUnavailableError('the database is too slow')
  const deadline = performance.now() + RESOLVE_LIMIT_MS - waitedMs
  let mayBeStored = false
  for (;;) {
    const outcome = await attempt(connections, work, deadline + LAST_ATTEMPT_MS)
    if ('result' in outcome) return outcome.result
    const { error } = outcome
    mayBeStored ||= outcome.isStored
    const mayMove = connections.areMany && isReadOnly(error)
    const isWorthIt = mayBeStored || mayMove || aftermathOf(error) === 'again'
    if (!isWorthIt || performance.now() > deadline) throw toStoreError(error, mayBeStored)
    await sleep(PAUSE_MS)
  }
}

/** What an error of a statement or of a connection means for a store. */
export function toStoreError(cause: unknown, mayBeStored: boolean): unknown {
  if (mayBeStored)
    return new OutcomeUnknownError('the database was lost during a commit', { cause })
  if (cause instanceof StoreRefusedError) {
    return new StoreUnavailableError(cause.message, { cause, fix: cause.fix })
  }
  if (aftermathOf(cause) === 'rolled_back' && !isPassing(cause)) return cause
  return new StoreUnavailableError('the database is not available', { cause, ...explain(cause) })
}
