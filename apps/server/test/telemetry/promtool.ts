import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { needs } from '../../../../test/needs.ts'
import { ROOT, readRoot } from '../../../../test/root.ts'

/** The folder for operators: the alerts, the dashboard, and the configuration of Prometheus. */
export const OPERATIONS = join(ROOT, 'operations')

/** The rules of the alerts. */
export const rules = readRoot('operations/alerts.yml')

/** Of Debian's package prometheus; without it what needs it is skipped, and CI fails for that. */
export const needsPromtool = needs('promtool', spawnSync('promtool', ['--version']).status === 0)

/** Runs promtool and gives what it prints; throws what it complains of. */
export function runPromtool(args: readonly string[], input = ''): string {
  return execFileSync('promtool', args, { cwd: OPERATIONS, input, encoding: 'utf8', stdio: 'pipe' })
}
