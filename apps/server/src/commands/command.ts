import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { flagOf, type SettingName, settingNames, settings } from '../config/settings.ts'
import { engineOf, openStore } from '../engines.ts'
import type { Copies } from '../store/engine.ts'
import type { Store } from '../store/store.ts'
import { CommandError, exitCodes } from './command-error.ts'
import type { Terminal } from './terminal.ts'

/** Gives a command the flags of some settings, by default of all. */
export function addSettingFlags(
  command: Command,
  names: readonly SettingName[] = settingNames,
): Command {
  for (const name of names) {
    const { about, initial } = settings[name]
    command.option(`${flagOf(name)} <value>`, `${about} (default: ${initial})`)
  }
  return command
}

/** Opens the store of the settings, prints which it is, and closes it after `use`. */
export async function withStore<Result>(
  terminal: Terminal,
  config: Config,
  use: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openStore(config)
  try {
    terminal.err(`${store.description}\n`)
    return await use(store)
  } finally {
    await store.close()
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
