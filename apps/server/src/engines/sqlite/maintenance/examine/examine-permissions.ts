import { accessSync, constants, statSync } from 'node:fs'
import { type HealthCheck, healthChecksOf } from '../../../../store/health-check.ts'
import { findWideModes } from '../../files/permissions.ts'

export function examinePermissions(path: string): HealthCheck[] {
  const about = healthChecksOf('permissions')
  const { mode, uid } = statSync(path)
  const shown = (mode & 0o777).toString(8).padStart(3, '0')
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
  } catch {
    const fix = `chown ${path} to the server's user`
    return [about.failure(`${shown}, and owned by user ${uid}`, fix)]
  }
  const wide = findWideModes(path)
  if (wide.length === 0) return [about.ok(`${shown}, the store is for its owner only`)]
  return wide.map(({ path, mode, othersMay, fix }) =>
    about.warning(`${path} has mode ${mode}: other users can ${othersMay} it`, fix),
  )
}
