import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { type Flags, loadConfig } from '../config.ts'
import { restoreStore } from '../store/sqlite/restore.ts'
import { addSettingFlags, CommandError, exitCodes, type Terminal } from './command.ts'
import { describeStop, describeUncreatable } from './failures.ts'
import { describeCount, startProgress } from './progress.ts'
import { requireSqlite } from './require-sqlite.ts'

const FOR_POSTGRESQL =
  'restore fills a SQLite store; PostgreSQL has a program of its own for that. Try:\n' +
  '  pg_restore --single-transaction --host=HOST --username=USER --dbname=DATABASE FILE\n' +
  '  with the password in the file that PGPASSFILE names, because everybody can read a command;\n' +
  '  or, for what export wrote: plant-store-server load plants.jsonl'

async function restore(backup: string, target: string, terminal: Terminal): Promise<void> {
  if (!existsSync(backup)) {
    throw new CommandError(`cannot read ${backup}: there is no such file`, exitCodes.noInput)
  }
  let fraction = 0
  const progress = startProgress(terminal, () => ({ fraction, text: `of ${backup} copied` }))
  try {
    const { plants, tokens } = await restoreStore(backup, target, {
      signal: terminal.stop,
      onProgress: (done) => {
        fraction = done
      },
    })
    progress.line(
      `${target} holds ${describeCount(plants, 'plant')} and ${describeCount(tokens, 'token')} ` +
        `of ${backup}.\n  Tokens are as they were then. Try: plant-store-server token list, ` +
        'and revoke again what was revoked since.',
    )
  } catch (error) {
    const stopped = describeStop(error, terminal, 'Nothing was restored')
    throw describeUncreatable(stopped, target)
  } finally {
    progress.end()
  }
}

/** `restore FILE` */
export function addRestoreCommand(program: Command, terminal: Terminal): void {
  addSettingFlags(program.command('restore'), ['databaseUrl'])
    .description('fill a SQLite store that holds no plants from a backup')
    .argument('<file>', 'what `backup` made')
    .addHelpText(
      'after',
      '\nAll or nothing: the backup is checked to its last page before. Tokens that the store has\n' +
        'already stay.\n\n' +
        'Example: plant-store-server restore plants-2026-11-20.db',
    )
    .action((file: string, options: Flags) =>
      restore(file, requireSqlite(loadConfig(options).databaseUrl, FOR_POSTGRESQL), terminal),
    )
}
