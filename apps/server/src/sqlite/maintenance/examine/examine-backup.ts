import { readFileSync } from 'node:fs'
import { type HealthCheck, healthChecksOf } from '../../../store/health-check.ts'

const DAY_MS = 86_400_000

/** Two daily backups in a row failed. */
const OLD_MS = 2 * DAY_MS

const about = healthChecksOf('backup')

/** When the last backup ended (Unix ms), by the file that `backup` leaves; NaN where it says nothing. */
function readFinishedAt(path: string): number {
  try {
    const { finishedAt } = JSON.parse(readFileSync(`${path}.last-backup`, 'utf8'))
    return new Date(finishedAt).getTime()
  } catch {
    return Number.NaN
  }
}

/** The age of the last backup of a store that holds plants. */
export function examineBackup(path: string, plants: number, now = Date.now()): HealthCheck {
  const fix = `plant-store-server backup FILE, each day by a timer`
  const finishedAt = readFinishedAt(path)
  if (Number.isNaN(finishedAt)) {
    return plants === 0
      ? about.ok('none yet; there are no plants')
      : about.warning('this store was never backed up here', fix)
  }
  const detail = `the last one ended ${new Date(finishedAt).toISOString()}`
  if (now - finishedAt <= OLD_MS) return about.ok(detail)
  const days = Math.floor((now - finishedAt) / DAY_MS)
  return about.warning(`${detail}, ${days} days ago`, fix)
}
