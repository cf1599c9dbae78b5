import { type HealthCheck, healthChecksOf } from '../../../store/health-check.ts'
import { findWideModes } from '../../files/permissions.ts'
import { describeOwner } from './examine-access.ts'

const about = healthChecksOf('permissions')

/** Whether the files of a store, which this user may use, are for their owner only. */
export function examinePermissions(path: string): HealthCheck[] {
  const wide = findWideModes(path)
  if (wide.length === 0)
    return [about.ok(`${describeOwner(path)}: the store is for its owner only`)]
  return wide.map(({ path, mode, othersMay, fix }) =>
    about.warning(`${path} has mode ${mode}: other users can ${othersMay} it`, fix),
  )
}
