import { type HealthCheck, healthChecksOf } from '../../store/health-check.ts'

/** This program did not exist before: a clock below this was never set. */
const EARLIEST = Date.UTC(2026, 0)

/** Clocks of machines in one room differ by less. */
const TOLERANCE_MS = 300_000

const about = healthChecksOf('clock')
const FIX = 'set the clock, and let NTP keep it; tokens expire by it'

/** Compares the clock with the times that the store has recorded. */
export function examineClock(now: number, recorded: readonly number[]): HealthCheck {
  const shown = new Date(now).toISOString()
  if (now < EARLIEST) return about.failure(`it is ${shown} here`, FIX)
  const ahead = Math.max(...recorded, 0) - now
  if (ahead <= TOLERANCE_MS) return about.ok(shown)
  const minutes = Math.round(ahead / 60_000)
  return about.warning(
    `it is ${shown} here, ${minutes} minutes earlier than a time in the store`,
    FIX,
  )
}
