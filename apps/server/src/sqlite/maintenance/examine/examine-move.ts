import type { DatabaseSync } from 'node:sqlite'
import { type HealthCheck, healthChecksOf } from '../../../store/health-check.ts'
import { operatorNames } from '../../../store/operator-names.ts'
import { quoteForShell } from '../../../text/quote-for-shell.ts'
import { moveStateOf } from '../../database/move-schema.ts'

/** A move that nobody has finished records each new plant for ever. */
export function examineMove(database: DatabaseSync, path: string): HealthCheck[] {
  if (moveStateOf(database) !== 'open') return []
  const move = `${operatorNames.program} move --from ${quoteForShell(`sqlite:${path}`)}`
  return [
    healthChecksOf('move').warning(
      'plants move to another database, which was not finished',
      `${move} --finish where ${operatorNames.databaseUrl} names that database, or ${move} --undo`,
    ),
  ]
}
