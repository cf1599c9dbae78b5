import type { Logger } from 'pino'

/** The limits that refuse: see docs/interface.md. */
export const refusalReasons = [
  'connections',
  'address_connections',
  'address_requests',
  'slow',
  'requests_in_flight',
  'overload',
  'failed_credentials',
  'rate',
] as const

export type RefusalReason = (typeof refusalReasons)[number]

/** Counts what the limits refuse. */
export interface Refusals {
  /** `who` is named in the log: an address, or the name of a token. */
  count(reason: RefusalReason, who?: string): void
}

/** Is notified of each refusal, to measure them. */
export interface LimiterObserver {
  acted(reason: RefusalReason): void
}

const SUMMARY_MS = 1_000

/** Callers that one line names, so that it stays short. */
const NAMES_PER_LINE = 10

/**
 * Counts refusals and logs one line a second for all of them: a line for each would cost more than
 * the refusal, just when the server has no time.
 */
export function createRefusals(log: Logger, observer?: LimiterObserver): Refusals {
  const refused: Partial<Record<RefusalReason, number>> = {}
  const callers = new Set<string>()
  let isScheduled = false

  function summarize(): void {
    isScheduled = false
    log.warn({ refused: { ...refused }, callers: [...callers] }, 'limits refused requests')
    for (const reason of refusalReasons) delete refused[reason]
    callers.clear()
  }

  return {
    count(reason, who) {
      observer?.acted(reason)
      refused[reason] = (refused[reason] ?? 0) + 1
      if (who !== undefined && callers.size < NAMES_PER_LINE) callers.add(who)
      if (isScheduled) return
      isScheduled = true
      setTimeout(summarize, SUMMARY_MS).unref()
    },
  }
}
