import type { Command } from 'commander'
import { type Flags, flagOf, loadConfig, type SettingName, settings } from '../config.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'

/** What a command is given of the process around it. */
export interface Terminal {
  /** For what the command was asked for. */
  readonly out: (text: string) => void
  /** For people: everything else. */
  readonly err: (text: string) => void
  /** Aborted when the process is asked to end. */
  readonly stop: AbortSignal
}

/** Exit codes, as sysexits.h names them. */
export const exitCodes = {
  ok: 0,
  /** Something unforeseen. */
  failure: 1,
  /** EX_UNAVAILABLE: the store must not or cannot be used now. */
  unavailable: 69,
  /** EX_IOERR: the store failed while it was in use. */
  ioError: 74,
  /** EX_CONFIG: the command line or a setting is wrong. */
  config: 78,
} as const

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
