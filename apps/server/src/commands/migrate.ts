import type { Command } from 'commander'
import { migratePostgresDatabase } from '../engines/postgres/migrate.ts'
import { migrateSqlite } from '../engines/sqlite/maintenance/migrate.ts'
import { type Config, type Flags, loadConfig } from '../settings/config.ts'
import { addSettingFlags } from './command.ts'
import { unlessStopped } from './failures.ts'
import { sqlitePathOf } from './require-sqlite.ts'
import type { Terminal } from './terminal.ts'

const AGAIN = 'Each migration is all or nothing. Try: the same command again'

async function migrate({ databaseUrl, allowDataLoss }: Config) {
  const path = sqlitePathOf(databaseUrl)
  return path === undefined
    ? await migratePostgresDatabase(databaseUrl, allowDataLoss)
    : { place: path, ...(await migrateSqlite(path)) }
}

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
      const path = sqlitePathOf(config.databaseUrl)
      const { place, before, after } = await unlessStopped(migrate(config), terminal, AGAIN)
      const change = before === after ? 'nothing to do' : `migrated from schema version ${before}`
      terminal.err(
        `${place} has schema version ${after}, the newest that this program knows: ${change}.\n`,
      )
      if (path !== undefined) terminal.err('A SQLite store migrates by itself when it is opened.\n')
    })
}
