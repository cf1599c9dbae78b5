import {
  createPlantStoreClient,
  isPlantStoreError,
  type PlantStoreClient,
} from '@plant-store/client'
import type { Command } from 'commander'
import { CliError, exitCodes } from './cli-error.ts'
import { isSamePlace, type Login, readLogins } from './logins.ts'
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

async function findUrl({ baseUrl }: ConnectionOptions, terminal: Terminal): Promise<string> {
  const own = baseUrl ?? terminal.environment.PLANT_STORE_BASE_URL
  const found = own ?? (await readLogins(terminal)).at(-1)?.baseUrl
  if (found !== undefined) return found
  throw new CliError('you are not logged in', exitCodes.notAllowed, {
    hint: 'plant-store login URL, or set PLANT_STORE_BASE_URL and PLANT_STORE_TOKEN',
  })
}

interface FoundToken {
  readonly token: string
  /** How another one is given in its place, such as `plant-store login URL with`. */
  readonly tokenBy: string
}

/** The token of the environment or of a login, which goes only to the URL that it was given for. */
async function findToken(url: string, terminal: Terminal): Promise<FoundToken> {
  const { PLANT_STORE_TOKEN: own, PLANT_STORE_BASE_URL: place } = terminal.environment
  if (own !== undefined && place === undefined) {
    throw new CliError(
      `PLANT_STORE_TOKEN is set, but no URL that it is for; it is not sent to ${url}`,
      exitCodes.notAllowed,
      { hint: 'set PLANT_STORE_BASE_URL, too, or unset PLANT_STORE_TOKEN' },
    )
  }
  if (own !== undefined && place !== undefined && isSamePlace(place, url)) {
    return { token: own, tokenBy: 'PLANT_STORE_TOKEN with' }
  }
  const logins = await readLogins(terminal)
  const login = logins.find(({ baseUrl }) => isSamePlace(baseUrl, url))
  const tokenBy = `plant-store login ${url} with`
  if (login !== undefined) return { token: login.token, tokenBy }
  const places = logins.map(({ baseUrl }) => baseUrl)
  const others = places.length === 0 ? '' : `; your logins are for ${places.join(', ')}`
  throw new CliError(`there is no token for ${url}${others}`, exitCodes.notAllowed, {
    hint: `plant-store login ${url}, or --token-file`,
  })
}

/** A client of a plant store. @throws CliError where URL or token cannot be one. */
export function createClient({ baseUrl, token }: Login): PlantStoreClient {
  try {
    return createPlantStoreClient({ appName: `plant-store-cli/${readVersion()}`, baseUrl, token })
  } catch (error) {
    if (!isPlantStoreError(error)) throw error
    // Neither value is shown: a token may stand in place of a URL.
    const what = error.option === 'token' ? 'the token' : 'the URL'
    throw new CliError(`${what} ${error.message.replace(/^\w+ /, '')}`, exitCodes.usage, {
      cause: error,
    })
  }
}

/**
 * A client of the plant store that is meant: a flag counts more than the environment, and that more
 * than a login. Nothing is sent.
 * @throws CliError where URL or token are missing, or cannot be one
 */
export async function openClient(
  options: ConnectionOptions,
  terminal: Terminal,
): Promise<{ readonly client: PlantStoreClient; readonly tokenBy: string }> {
  const baseUrl = await findUrl(options, terminal)
  const { tokenFile } = options
  const { token, tokenBy } =
    tokenFile === undefined
      ? await findToken(baseUrl, terminal)
      : { token: await readTokenFile(tokenFile), tokenBy: `${tokenFile} with` }
  return { client: createClient({ baseUrl, token }), tokenBy }
}
