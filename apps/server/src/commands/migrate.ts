import type { Command } from 'commander'
import { type Config, type Flags, loadConfig } from '../config/config.ts'
import { engineOf, maskDatabaseUrl } from '../engines.ts'
import type { Migrated } from '../store/engine.ts'
import { addSettingFlags } from './command.ts'
import { CommandError, exitCodes } from './command-error.ts'
import { unlessStopped } from './failures.ts'
import { describeDuration } from './progress.ts'
import type { Terminal } from './terminal.ts'

/** @throws CommandError where the database cannot be spread over nodes. */
function migrate(config: Config, distributed = false): Promise<Migrated> {
  const database = engineOf(config.databaseUrl)
  if (!distributed) return database.migrate(config)
  if (database.migrateDistributed === undefined) {
    throw new CommandError('--distributed is for PostgreSQL with nodes', exitCodes.config, {
      fix: 'the same command without it',
    })
  }
  return database.migrateDistributed(config)
}

const AGAIN = 'Each migration is all or nothing. Try: the same command again'

/** `migrate` */
export function addMigrateCommand(program: Command, terminal: Terminal): void {
  addSettingFlags(program.command('migrate'), ['databaseUrl', 'allowDataLoss'])
    .option('--distributed', 'then spread the tables over the nodes of the database')
    .description('make the store, or bring its schema to the newest version')
    .addHelpText(
      'after',
      '\nA SQLite store migrates by itself when it is opened. If it holds plants, it is copied first,\n' +
        'to a file beside it, such as plants.db.schema-1.300 with its version and number of plants.\n\n' +
        '--distributed is for a database with nodes, such as Citus: it spreads plants by id, and puts\n' +
        'tokens on every node. What is spread already stays, so the command may run again.',
    )
    .action(async ({ distributed, ...options }: Flags & { readonly distributed?: true }) => {
      const config = loadConfig(options)
      const startedAt = performance.now()
      terminal.err(`${maskDatabaseUrl(config.databaseUrl)}\n`)
      const migrated = migrate(config, distributed)
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
