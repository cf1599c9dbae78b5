import { isUsable } from '../../auth/authenticate.ts'
import { type EndingToken, findEndingTokens, TOKEN_WARNING_MS } from '../../auth/ending-tokens.ts'
import { type HealthCheck, healthChecksOf } from '../../store/health-check.ts'
import type { TokenRecord } from '../../store/store.ts'
import { quoteForShell } from '../../text/quote-for-shell.ts'
import { describeTime } from '../token/report.ts'

const about = healthChecksOf('tokens')

function examineToken({ id, name, expiresAt }: EndingToken, now: number): HealthCheck {
  const shown = `${id} (${name})`
  const end = describeTime(expiresAt)
  return expiresAt > now
    ? about.warning(`${shown} expires ${end}`, `plant-store-server token rotate ${id}`)
    : about.warning(
        `${shown} expired ${end}`,
        `plant-store-server token create --name ${quoteForShell(name)}`,
      )
}

/**
 * Warns of tokens without a successor that expire within 14 days or expired in the last 14 days, and
 * where no token opens the service and JWTs do not either.
 */
export function examineTokens(
  tokens: readonly TokenRecord[],
  now: number,
  takesJwt = false,
): HealthCheck[] {
  const usable = tokens.filter((token) => isUsable(token, now)).length
  const ending = findEndingTokens(tokens, now).filter(
    ({ expiresAt }) => Math.abs(expiresAt - now) <= TOKEN_WARNING_MS,
  )
  const checks = ending.map((token) => examineToken(token, now))
  if (usable === 0 && !takesJwt) {
    const detail = 'no token opens the service'
    return [...checks, about.warning(detail, 'plant-store-server token create --name NAME')]
  }
  return checks.length > 0 ? checks : [about.ok(`${usable} in use, none expires within 14 days`)]
}
