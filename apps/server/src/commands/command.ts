import type { Readable, Writable } from 'node:stream'
import type { Command } from 'commander'
import { openStore } from '../engines/engines.ts'
import { type Flags, loadConfig } from '../settings/config.ts'
import { flagOf, type SettingName, settings } from '../settings/settings.ts'
import type { Store } from '../store/store.ts'

export { exitCodes } from './exit-codes.ts'

/** What a command is given of the process around it. */
export interface Terminal {
  /** For what the command was asked for, in lines; what a terminal would obey is escaped. */
  readonly out: (text: string) => void
  /**
   * For people: everything else, a line in each call and maybe indented ones below it. What a
   * terminal would obey, or take for another line, is escaped, and no credential is in it.
   */
  readonly err: (text: string) => void
  /** Where `err` goes, for marks that a terminal is to obey. */
  readonly draw: (text: string) => void
  /** Where `out` goes, for data, which must stay as it is, and what may be longer than memory. */
  readonly output: Writable
  readonly input: Readable
  /** Whether a person watches `err` on a terminal, so that a line of it may be written again. */
  readonly isInteractive: boolean
  /** Aborted when the process is asked to end; the reason is the signal's name. */
  readonly stop: AbortSignal
  /** Calls back each time the process is asked to log more, or less again. */
  readonly onLogSignal: (change: () => void) => void
}

/** A command that cannot do what it was asked; the message says what to try. */
export class CommandError extends Error {
  override name = 'CommandError'
  readonly exitCode: number

  constructor(message: string, exitCode: number, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}

/** Gives a command the flags of some settings. */
export function addSettingFlags(command: Command, names: readonly SettingName[]): Command {
  for (const name of names) {
    const { about, initial } = settings[name]
    command.option(`${flagOf(name)} <value>`, `${about} (default: ${initial})`)
  }
  return command
}

/** Opens the store that the settings name, says which it is, and closes it after `use`. */
export async function withStore(
  terminal: Terminal,
  flags: Flags,
  use: (store: Store) => Promise<void>,
): Promise<void> {
  const store = await openStore(loadConfig(flags))
  try {
    terminal.err(`${store.description}\n`)
    await use(store)
  } finally {
    await store.close()
  }
}
