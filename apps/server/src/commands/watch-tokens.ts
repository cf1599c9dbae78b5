import type { Logger } from 'pino'
import { type EndingToken, findEndingTokens, TOKEN_WARNING_MS } from '../auth/tokens.ts'
import type { TokenStore } from '../store/store.ts'
import type { TokenObserver } from '../telemetry/metrics.ts'
import { describeCount } from '../text/describe-count.ts'
import { auditFieldsOf } from './audit.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Tokens that the log names each day; the others are counted. */
const NAMED = 10

function logEnding(tokens: readonly EndingToken[], now: number, log: Logger): void {
  for (const token of tokens.slice(0, NAMED)) {
    const days = describeCount(Math.floor((token.expiresAt - now) / DAY_MS), 'day')
    const fix = `plant-store-server token rotate ${token.id}`
    log.warn({ ...auditFieldsOf(token), fix }, `a token ends in ${days}`)
  }
  const more = tokens.length - NAMED
  if (more > 0) log.warn({ tokens: more }, 'so many more tokens end within 14 days')
}

/**
 * Reads the tokens of a store now and once an hour: their next end is for the metric, and tokens that
 * end within 14 days are for the log, now and once a day. Nothing waits for it, and a store that
 * cannot be read is asked again an hour later.
 */
export function watchTokens(
  tokens: Pick<TokenStore, 'list'>,
  log: Logger,
  observer: TokenObserver | undefined,
  stop: AbortSignal,
): void {
  let loggedAt = Number.NEGATIVE_INFINITY

  async function look(): Promise<void> {
    const now = Date.now()
    const ending = findEndingTokens(await tokens.list(), now).filter(
      ({ expiresAt }) => expiresAt > now,
    )
    observer?.nextEndIs(ending[0]?.expiresAt)
    const soon = ending.filter(({ expiresAt }) => expiresAt - now <= TOKEN_WARNING_MS)
    if (soon.length === 0 || performance.now() - loggedAt < DAY_MS) return
    loggedAt = performance.now()
    logEnding(soon, now, log)
  }

  const start = () => void look().catch(() => {})
  const timer = setInterval(start, HOUR_MS).unref()
  stop.addEventListener('abort', () => clearInterval(timer), { once: true })
  start()
}
