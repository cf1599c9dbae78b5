import { engineOf } from '../engines.ts'
import type { Copies, CopyOptions } from '../store/engine.ts'
import { CommandError, exitCodes } from './command-error.ts'
import { startProgress } from './progress.ts'
import type { Terminal } from './terminal.ts'

/** Shows how far a copy is while `work` makes it; `text` says what is done. */
export async function withProgress<Result>(
  terminal: Terminal,
  text: string,
  work: (options: CopyOptions) => Promise<Result>,
): Promise<Result> {
  let fraction = 0
  const progress = startProgress(terminal, () => ({ fraction, text }))
  try {
    return await work({
      signal: terminal.stop,
      onProgress: (done) => {
        fraction = done
      },
    })
  } finally {
    progress.end()
  }
}

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
