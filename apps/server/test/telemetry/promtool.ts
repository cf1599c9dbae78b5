import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { needs } from '../../../../test/needs.ts'

/** The folder for operators: the alerts, the dashboard, and the configuration of Prometheus. */
export const OPERATIONS = join(import.meta.dirname, '../../../../operations')

/** The rules of the alerts. */
export const rules = readFileSync(join(OPERATIONS, 'alerts.yml'), 'utf8')

/** Of Debian's package prometheus; without it what needs it is skipped, and CI fails for that. */
export const needsPromtool = needs('promtool', spawnSync('promtool', ['--version']).status === 0)

/** Runs promtool and gives what it prints; throws what it complains of. */
export function runPromtool(args: readonly string[], input = ''): string {
  return execFileSync('promtool', args, { cwd: OPERATIONS, input, encoding: 'utf8', stdio: 'pipe' })
}
