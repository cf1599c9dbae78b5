import type { Command } from 'commander'
import { engineOf, maskDatabaseUrl } from '../engines/engines.ts'
import { type Flags, loadConfig } from '../settings/config.ts'
import { addSettingFlags } from './command.ts'
import { unlessStopped } from './failures.ts'
import { describeDuration } from './progress.ts'
import type { Terminal } from './terminal.ts'

const AGAIN = 'Each migration is all or nothing. Try: the same command again'

/** `migrate` */
export function addMigrateCommand(program: Command, terminal: Terminal): void {
  addSettingFlags(program.command('migrate'), ['databaseUrl', 'allowDataLoss'])
    .description('bring the schema of the database to the newest version')
    .addHelpText(
      'after',
      '\nA SQLite store migrates by itself when it is opened. If it holds plants, it is copied first,\n' +
        'to a file beside it whose name ends with .schema- and the old version.',
    )
    .action(async (options: Flags) => {
      const config = loadConfig(options)
      const startedAt = performance.now()
      terminal.err(`${maskDatabaseUrl(config.databaseUrl)}\n`)
      const migrated = engineOf(config.databaseUrl).migrate(config)
      const { place, before, after, note } = await unlessStopped(migrated, terminal, AGAIN)
      const took = describeDuration(performance.now() - startedAt)
      const change =
        before === after ? 'nothing to do' : `migrated from schema version ${before} in ${took}`
      terminal.err(
        `${place} has schema version ${after}, the newest that this program knows: ${change}.\n`,
      )
      if (note !== undefined) terminal.err(`${note}\n`)
    })
}
