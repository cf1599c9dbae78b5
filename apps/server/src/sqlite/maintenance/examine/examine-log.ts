import { type HealthCheck, healthChecksOf } from '../../../store/health-check.ts'
import { sizeOf } from '../../files/measure-files.ts'

const LARGE_LOG_BYTES = 268_435_456

/** A log that grows: somebody reads for so long that SQLite cannot use it again. */
export function examineLog(path: string): HealthCheck {
  const about = healthChecksOf('log')
  const size = sizeOf(`${path}-wal`) ?? 0
  const detail = `${Math.ceil(size / 1024).toLocaleString('en-US')} KiB of write-ahead log`
  if (size < LARGE_LOG_BYTES) return about.ok(detail)
  return about.warning(detail, `end the reader that keeps it: fuser -v ${path}-wal shows it`)
}
