import { type HealthCheck, healthChecksOf } from '../../../store/health-check.ts'
import { describeMebibytes, ENOUGH_ROOM_BYTES, fixOfRoom, freeBytesOf } from './fix-of-error.ts'

const NO_ROOM_BYTES = ENOUGH_ROOM_BYTES / 16

/** Room that this user may still fill. */
export function examineRoom(folder: string): HealthCheck {
  const about = healthChecksOf('disk')
  const free = freeBytesOf(folder)
  const detail = `${describeMebibytes(free)} free in ${folder}`
  if (free >= ENOUGH_ROOM_BYTES) return about.ok(detail)
  const consequence = `${detail}; on a full disk every create is answered 503`
  return (free < NO_ROOM_BYTES ? about.failure : about.warning)(
    consequence,
    `${fixOfRoom(folder)}; never delete a -wal file, where the newest plants are`,
  )
}
