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

/** What the limits have refused. */
export interface Refusals {
  /** `who` is named in the log: an address, the name of a token. */
  count(reason: RefusalReason, who?: string): void
}

/** Is told of each refusal, for whoever measures. */
export interface LimiterObserver {
  acted(reason: RefusalReason): void
}

const SUMMARY_MS = 1_000

/** Callers that one line names, so that a line stays a line. */
const NAMES_PER_LINE = 10

/**
 * Counts refusals and logs one line for all of a second: a line for each would cost the server
 * more than the refusal, just when it has no time.
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
