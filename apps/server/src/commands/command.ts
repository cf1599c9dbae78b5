import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { flagOf, type SettingName, settingNames, settings } from '../config/settings.ts'
import { openStore } from '../engines.ts'
import type { Store } from '../store/store.ts'
import type { Terminal } from './terminal.ts'

/** Gives a command the flags of some settings. */
export function addSettingFlags(command: Command, names: readonly SettingName[]): Command {
  for (const name of names) {
    const { about, initial } = settings[name]
    command.option(`${flagOf(name)} <value>`, `${about} (default: ${initial})`)
  }
  return command
}

/** Gives a command the flags of every setting. */
export function addAllSettingFlags(command: Command): Command {
  return addSettingFlags(command, settingNames)
}

/** Opens the store of the settings, prints which it is, and closes it after `use`. */
export async function withStore(
  terminal: Terminal,
  config: Config,
  use: (store: Store) => Promise<void>,
): Promise<void> {
  const store = await openStore(config)
  try {
    terminal.err(`${store.description}\n`)
    await use(store)
  } finally {
    await store.close()
  }
}
