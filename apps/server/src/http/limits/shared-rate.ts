import type { Logger } from 'pino'
import { within } from '../../process/within.ts'
import { GroupCommit } from '../../store/group-commit.ts'
import type { RateLimit, SpendRates } from '../../store/store.ts'
import { type Rate, type RateState, stateOf } from './rate.ts'

/** Spends a unit of a key's rate if there is one, and returns what was left before. */
export type Spend = (key: string) => RateState | Promise<RateState>

/** How long the database may take, and how long it is not asked again after it took longer. */
const ANSWER_LIMIT_MS = 500
const LEAVE_ALONE_MS = 1_000

/** Requests that arrive while the database is asked share the next question. */
function spendTogether(options: RateLimit, spendRates: SpendRates) {
  return async (keys: readonly string[]): Promise<RateState[]> => {
    const asked = new Map<string, number>()
    for (const key of keys) asked.set(key, (asked.get(key) ?? 0) + 1)
    const spent = await within(ANSWER_LIMIT_MS, spendRates(asked, options), undefined)
    if (spent === undefined) throw new Error(`no reply within ${ANSWER_LIMIT_MS} ms`)
    const answered = new Map<string, number>()
    return keys.map((key) => {
      const { granted, fullInNs } = spent.get(key) ?? { granted: 0, fullInNs: 0 }
      const index = answered.get(key) ?? 0
      answered.set(key, index + 1)
      // The first request had all the others' units before it; one without a unit had none.
      const before = Math.max(0, granted - index)
      return stateOf(options, fullInNs - before * options.unitNs)
    })
  }
}

/**
 * A rate that all servers on one database spend together. While the database does not answer, each
 * server counts for itself: nothing can be stored then, but requests must still be refused.
 */
export function shareRate(
  options: RateLimit,
  { own, spendRates, log }: { own: Rate; spendRates: SpendRates; log: Logger },
): Spend {
  const shared = new GroupCommit({
    queueLimit: Number.POSITIVE_INFINITY,
    commit: spendTogether(options, spendRates),
  })
  let askAgainAt = 0

  return (key) => {
    if (performance.now() < askAgainAt) return own.spend(key, performance.now())
    return shared.add(key).catch((error: Error) => {
      if (performance.now() >= askAgainAt) {
        askAgainAt = performance.now() + LEAVE_ALONE_MS
        log.warn({ reason: error.message }, 'the rate of tokens is counted by this server alone')
      }
      return own.spend(key, performance.now())
    })
  }
}
