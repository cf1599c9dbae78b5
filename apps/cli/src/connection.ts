import {
  createPlantStoreClient,
  isPlantStoreError,
  type PlantStoreClient,
} from '@plant-store/client'
import type { Command } from 'commander'
import { CliError } from './cli-error.ts'
import { exitCodes } from './exit-codes.ts'
import { isSamePlace, readLogins } from './logins.ts'
import type { Terminal } from './terminal.ts'
import { readTokenFile } from './token.ts'
import { readVersion } from './version.ts'

/** The flags that say where plants go and with which token. */
export interface ConnectionOptions {
  readonly baseUrl?: string
  readonly tokenFile?: string
}

/** Gives a command the flags of a connection. */
export function addConnectionOptions(command: Command): Command {
  return command
    .optionsGroup('Where to:')
    .option('--base-url <url>', 'the URL of the plant store (default: that of the last login)')
    .option('--token-file <path>', 'a file that holds the token (default: that of the login)')
}

/** A value and where it comes from, in words. */
interface Sourced {
  readonly value: string
  readonly from: string
}

/** Where plants go and with which token. */
export interface Target {
  readonly baseUrl: Sourced
  readonly token: Sourced
}

async function findUrl({ baseUrl }: ConnectionOptions, terminal: Terminal): Promise<Sourced> {
  if (baseUrl !== undefined) return { value: baseUrl, from: '--base-url' }
  const value = terminal.environment.PLANT_STORE_BASE_URL
  if (value !== undefined) return { value, from: 'PLANT_STORE_BASE_URL' }
  const last = (await readLogins(terminal)).at(-1)
  if (last !== undefined) return { value: last.baseUrl, from: 'your login' }
  throw new CliError('you are not logged in', exitCodes.notAllowed, {
    hint: 'plant-store login URL, or set PLANT_STORE_BASE_URL and PLANT_STORE_TOKEN',
  })
}

/** The token of the environment, if it is for this URL. It is sent to no other. */
function findOwnToken(url: string, { environment }: Terminal): Sourced | undefined {
  const { PLANT_STORE_TOKEN: value, PLANT_STORE_BASE_URL: place } = environment
  if (value === undefined) return undefined
  if (place === undefined) {
    throw new CliError(
      `PLANT_STORE_TOKEN is set, but no URL that it is for; it is not sent to ${url}`,
      exitCodes.notAllowed,
      { hint: 'set PLANT_STORE_BASE_URL, too, or unset PLANT_STORE_TOKEN' },
    )
  }
  return isSamePlace(place, url) ? { value, from: 'PLANT_STORE_TOKEN' } : undefined
}

async function findToken(url: string, terminal: Terminal): Promise<Sourced> {
  const own = findOwnToken(url, terminal)
  if (own !== undefined) return own
  const logins = await readLogins(terminal)
  const login = logins.find(({ baseUrl }) => isSamePlace(baseUrl, url))
  if (login !== undefined) return { value: login.token, from: 'your login' }
  const places = logins.map(({ baseUrl }) => baseUrl)
  const others = places.length === 0 ? '' : `; your logins are for ${places.join(', ')}`
  throw new CliError(`there is no token for ${url}${others}`, exitCodes.notAllowed, {
    hint: `plant-store login ${url}, or --token-file`,
  })
}

/**
 * Which plant store and token are meant. A flag counts more than the environment, and that more than
 * a login. A token of the environment or a login goes only to the URL that it was given for.
 * @throws CliError where one is missing; nothing was sent.
 */
async function resolveTarget(options: ConnectionOptions, terminal: Terminal): Promise<Target> {
  const baseUrl = await findUrl(options, terminal)
  const { tokenFile } = options
  const token =
    tokenFile === undefined
      ? await findToken(baseUrl.value, terminal)
      : { value: await readTokenFile(tokenFile), from: '--token-file' }
  return { baseUrl, token }
}

/** A client of a plant store. @throws CliError where URL or token cannot be one. */
export function createClient({ baseUrl, token }: Target): PlantStoreClient {
  try {
    return createPlantStoreClient({
      appName: `plant-store-cli/${readVersion()}`,
      baseUrl: baseUrl.value,
      token: token.value,
    })
  } catch (error) {
    if (!isPlantStoreError(error)) throw error
    const isToken = error.option === 'token'
    // Neither value is shown: a token may stand in place of a URL.
    throw new CliError(
      `${isToken ? 'the token' : 'the URL'} (${(isToken ? token : baseUrl).from}) ${error.message.replace(/^\w+ /, '')}`,
      exitCodes.usage,
      { cause: error },
    )
  }
}

/**
 * A client of the plant store that flags, environment and logins name. Nothing is sent.
 * @throws CliError as `resolveTarget` and `createClient` do
 */
export async function openClient(
  options: ConnectionOptions,
  terminal: Terminal,
): Promise<PlantStoreClient> {
  return createClient(await resolveTarget(options, terminal))
}
