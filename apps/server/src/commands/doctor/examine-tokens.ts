import { isUsable } from '../../auth/authenticate.ts'
import { type HealthCheck, healthChecksOf } from '../../store/health-check.ts'
import { operatorNames } from '../../store/operator-names.ts'
import type { TokenRecord } from '../../store/store.ts'
import { quoteForShell } from '../../text/quote-for-shell.ts'
import { describeTime } from '../token/report.ts'

const DAY_MS = 86_400_000

/** Long enough to bring a new token to every place that uses the old one. */
const WARNING_MS = 14 * DAY_MS

const about = healthChecksOf('tokens')

function endOf(token: TokenRecord): number {
  return token.expiresAt ?? Number.POSITIVE_INFINITY
}

/** Whether another token of the same name lasts longer. */
function hasSuccessor(token: TokenRecord, tokens: readonly TokenRecord[], now: number): boolean {
  return tokens.some(
    (other) => other.name === token.name && isUsable(other, now) && endOf(other) > now + WARNING_MS,
  )
}

function examineToken(token: TokenRecord, now: number): HealthCheck {
  const shown = `${token.id} (${token.name})`
  const end = describeTime(token.expiresAt)
  return endOf(token) > now
    ? about.warning(
        `${shown} expires ${end}`,
        operatorNames.commandLine(`token rotate ${token.id}`),
      )
    : about.warning(
        `${shown} expired ${end}`,
        operatorNames.commandLine(`token create --name ${quoteForShell(token.name)}`),
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
  const ending = tokens.filter(
    (token) =>
      token.revokedAt === undefined &&
      Math.abs(endOf(token) - now) <= WARNING_MS &&
      !hasSuccessor(token, tokens, now),
  )
  const checks = ending.map((token) => examineToken(token, now))
  if (usable === 0 && !takesJwt) {
    const detail = 'no token opens the service'
    return [...checks, about.warning(detail, operatorNames.commandLine('token create --name NAME'))]
  }
  return checks.length > 0 ? checks : [about.ok(`${usable} in use, none expires within 14 days`)]
}
