import { engineOf } from '../engines/engines.ts'
import type { Copies } from '../store/engine.ts'
import { CommandError, exitCodes } from './command.ts'

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
    `${work} a SQLite store; ${copies.engine} has a program of its own for that. Try:\n` +
      `  ${copies[by]}\n` +
      `  with the password ${copies.password}, because everybody can read a command;\n` +
      `  or, ${instead}`,
    exitCodes.config,
  )
}
