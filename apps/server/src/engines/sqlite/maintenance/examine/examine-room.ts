import { statfsSync } from 'node:fs'
import { type HealthCheck, healthChecksOf } from '../../../../store/health-check.ts'

const MEBIBYTE = 1_048_576
const LITTLE_ROOM = 1_024 * MEBIBYTE
const NO_ROOM = 64 * MEBIBYTE

/** Room that this user may still fill. */
export function examineRoom(folder: string): HealthCheck {
  const room = healthChecksOf('disk')
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const detail = `${Math.floor(free / MEBIBYTE).toLocaleString('en-US')} MiB free in ${folder}`
  const fix = 'make room; on a full disk every create is answered 503'
  if (free < NO_ROOM) return room.failure(detail, fix)
  return free < LITTLE_ROOM ? room.warning(detail, fix) : room.ok(detail)
}
