import { type HealthCheck, healthChecksOf } from '../../../../store/health-check.ts'
import { sizeOf } from '../../files/measure-files.ts'

const LARGE_LOG_BYTES = 268_435_456

export function examineLog(path: string): HealthCheck {
  const about = healthChecksOf('log')
  const size = sizeOf(`${path}-wal`) ?? 0
  const detail = `${Math.ceil(size / 1024).toLocaleString('en-US')} KiB of write-ahead log`
  if (size < LARGE_LOG_BYTES) return about.ok(detail)
  return about.warning(detail, 'end exports that hang; the next commits then use the log again')
}
