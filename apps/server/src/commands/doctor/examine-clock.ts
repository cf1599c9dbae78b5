import { type HealthCheck, healthChecksOf } from '../../store/health-check.ts'

/** This program did not exist before: a clock below this was never set. */
const EARLIEST = Date.UTC(2026, 0)

/** Clocks of machines in one room differ by less. */
const TOLERANCE_MS = 300_000

const about = healthChecksOf('clock')
const FIX = 'set the clock, and let NTP keep it; tokens expire by it'

/**
 * Compares the clock with the times that the store has recorded, and with the clock of the database's
 * machine if that is another one. All are Unix ms.
 */
export function examineClock(
  now: number,
  recorded: readonly number[],
  databaseTime: number = now,
): HealthCheck {
  const shown = new Date(now).toISOString()
  if (now < EARLIEST) return about.failure(`it is ${shown} here`, FIX)
  const behind = Math.max(...recorded, databaseTime) - now
  const difference = behind > TOLERANCE_MS ? behind : databaseTime - now
  if (Math.abs(difference) <= TOLERANCE_MS) return about.ok(shown)
  const minutes = Math.round(Math.abs(difference) / 60_000)
  const order = difference > 0 ? 'earlier' : 'later'
  const source = databaseTime === now ? 'a time in the store' : 'the clock of the database'
  return about.warning(`it is ${shown} here, ${minutes} minutes ${order} than ${source}`, FIX)
}
