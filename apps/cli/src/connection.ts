import type { PlantStoreClient } from '@plant-store/client'
import { createPlantStoreClient } from '@plant-store/client'
import type { Command } from 'commander'
import { CliError } from './cli-error.ts'
import { exitCodes } from './exit-codes.ts'
import type { Terminal } from './terminal.ts'

/** The flags that say where plants go and with which token. */
export interface ConnectionOptions {
  readonly profile?: string
  readonly baseUrl?: string
  readonly tokenFile?: string
}

/** Gives a command the flags of a connection. */
export function addConnectionOptions(command: Command): Command {
  return command
    .option('--profile <name>', 'the login to use')
    .option('--base-url <url>', 'where the plant store is')
    .option('--token-file <path>', 'a file that holds the token')
}

/** A client of the plant store that flags, environment and login name, and its URL for messages. */
export interface Connection {
  readonly client: PlantStoreClient
  readonly baseUrl: string
}

/**
 * Opens the plant store that is meant; a flag beats the environment, which beats the login.
 * @throws CliError where a URL or token is missing (`usage`, `notAllowed`); nothing was sent.
 */
export async function openClient(
  options: ConnectionOptions,
  terminal: Terminal,
): Promise<Connection> {
  const baseUrl = options.baseUrl ?? terminal.environment.PLANT_STORE_BASE_URL
  const token = terminal.environment.PLANT_STORE_TOKEN
  if (baseUrl === undefined || token === undefined) {
    throw new CliError('not logged in\n  Try: plant-store login URL', exitCodes.notAllowed)
  }
  return { client: createPlantStoreClient({ baseUrl, token }), baseUrl }
}
