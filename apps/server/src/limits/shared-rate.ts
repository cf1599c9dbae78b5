import type { Logger } from 'pino'
import { GroupCommit } from '../store/group-commit.ts'
import type { SpendRates } from '../store/store.ts'
import { createRate, type RateOptions, type RateState, stateOf } from './rate.ts'

/** Spends a unit of a key's rate where there is one, and gives what was left before. */
export type Spend = (key: string) => RateState | Promise<RateState>

/** A database that does not answer in this time is left alone for as long as the second says. */
const ANSWER_LIMIT_MS = 500
const LEAVE_ALONE_MS = 1_000

async function within<Result>(limitMs: number, work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no reply within ${limitMs} ms`)), limitMs)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** Requests that come while the database is asked are asked for together, next time. */
function spendTogether(options: RateOptions, spendRates: SpendRates) {
  return async (keys: readonly string[]): Promise<RateState[]> => {
    const asked = new Map<string, number>()
    for (const key of keys) asked.set(key, (asked.get(key) ?? 0) + 1)
    const spent = await within(ANSWER_LIMIT_MS, spendRates(asked, options))
    const told = new Map<string, number>()
    return keys.map((key) => {
      const { granted, fullInNs } = spent.get(key) ?? { granted: 0, fullInNs: 0 }
      const index = told.get(key) ?? 0
      told.set(key, index + 1)
      // The first of them had all the rest before them, and what is not granted finds nothing.
      const before = Math.max(0, granted - index)
      return stateOf(options, fullInNs - before * options.unitNs)
    })
  }
}

/**
 * A rate that all servers over one database spend together. While the database does not answer,
 * each server counts for itself: nothing can be stored then, and refusals must still be told.
 */
export function shareRate(options: RateOptions, spendRates: SpendRates, log: Logger): Spend {
  const own = createRate(options)
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
