import { engineOf } from '../engines/engines.ts'
import type { Copies } from '../store/engine.ts'
import { CommandError, exitCodes } from './command-error.ts'

/**
 * Backup and restore of a database.
 * @throws CommandError with what does the job instead when its engine has no such copies.
 */
export function copiesOf(
  databaseUrl: string,
  work: string,
  by: 'backUpBy' | 'restoreBy',
  instead: string,
): Copies {
  const { copies } = engineOf(databaseUrl)
  if ('file' in copies) return copies
  throw new CommandError(
    `${work} a SQLite store; ${copies.engine} has its own program for that. Try:\n` +
      `  ${copies[by]}\n` +
      `  with the password ${copies.password}, because every user can read a command line;\n` +
      `  or, ${instead}`,
    exitCodes.config,
  )
}
