import {
  createPlantStoreClient,
  isPlantStoreError,
  type PlantStoreClient,
  type PlantStoreClientOptions,
} from '@plant-store/client'
import type { Command } from 'commander'
import manifest from '../package.json' with { type: 'json' }
import { CliError, exitCodes } from './cli-error.ts'
import { isSamePlace, type Login, readLogins } from './logins.ts'
import type { Terminal } from './terminal.ts'
import { readTokenFile } from './token.ts'

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

/** What a client sends over, where it is not the global fetch. */
type Transport = Pick<PlantStoreClientOptions, 'fetch'>

/** A client of a plant store. @throws CliError where URL or token cannot be one. */
export function createClient(login: Login, transport: Transport = {}): PlantStoreClient {
  try {
    const headers = { 'user-agent': `plant-store-cli/${manifest.version}` }
    return createPlantStoreClient({ headers, ...login, ...transport })
  } catch (error) {
    if (!isPlantStoreError(error)) throw error
    // Neither value is shown: a token may stand in place of a URL.
    const what = error.option === 'token' ? 'the token' : 'the URL'
    throw new CliError(`${what} ${error.message.replace(/^\w+ /, '')}`, exitCodes.usage)
  }
}

/**
 * A client of the plant store that is meant: a flag counts more than the environment, and that more
 * than a login. A token goes only to the URL that it was given for. Nothing is sent. `tokenBy`: how
 * another token is given in its place, such as `plant-store login URL with`.
 * @throws CliError where URL or token are missing, or cannot be one
 */
export async function openClient(
  { baseUrl: asked, tokenFile }: ConnectionOptions,
  terminal: Terminal,
  transport?: Transport,
) {
  const { baseUrl: place, token: own } = terminal.environment
  const baseUrl = asked ?? place ?? (await readLogins(terminal)).at(-1)?.baseUrl
  const refuse = (why: string, hint: string) => new CliError(why, exitCodes.notAllowed, hint)
  if (baseUrl === undefined) {
    const hint = 'plant-store login URL, or set PLANT_STORE_BASE_URL and PLANT_STORE_TOKEN'
    throw refuse('you are not logged in', hint)
  }
  const connect = (token: string, tokenBy: string) => {
    return { client: createClient({ baseUrl, token }, transport), tokenBy: `${tokenBy} with` }
  }
  if (tokenFile !== undefined) return connect(await readTokenFile(tokenFile), tokenFile)
  if (own !== undefined && place === undefined) {
    const why = `PLANT_STORE_TOKEN is set, but no URL that it is for; it is not sent to ${baseUrl}`
    throw refuse(why, 'set PLANT_STORE_BASE_URL, too, or unset PLANT_STORE_TOKEN')
  }
  if (own !== undefined && isSamePlace(String(place), baseUrl)) {
    return connect(own, 'PLANT_STORE_TOKEN')
  }
  const logins = await readLogins(terminal)
  const login = logins.find((one) => isSamePlace(one.baseUrl, baseUrl))
  if (login !== undefined) return connect(login.token, `plant-store login ${baseUrl}`)
  const places = logins.map((one) => one.baseUrl).join(', ')
  const others = places === '' ? '' : `; your logins are for ${places}`
  const hint = `plant-store login ${baseUrl}, or --token-file`
  throw refuse(`there is no token for ${baseUrl}${others}`, hint)
}
