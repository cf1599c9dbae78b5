import { type HealthCheck, healthChecksOf } from '../../store/health-check.ts'

/** Before this program existed: a machine whose clock was never set. */
const EARLIEST = Date.UTC(2026, 0)

/** Clocks of machines in one room differ by less. */
const TOLERANCE_MS = 300_000

const about = healthChecksOf('clock')
const MEND = 'set the clock, and let NTP keep it; tokens expire by it'

/** Compares the clock with times that were recorded before. */
export function examineClock(now: number, recorded: readonly number[]): HealthCheck {
  const shown = new Date(now).toISOString()
  if (now < EARLIEST) return about.failure(`it is ${shown} here`, MEND)
  const ahead = Math.max(...recorded, 0) - now
  if (ahead <= TOLERANCE_MS) return about.ok(shown)
  const minutes = Math.round(ahead / 60_000)
  return about.warning(`it is ${shown} here, ${minutes} minutes before a time in the store`, MEND)
}
