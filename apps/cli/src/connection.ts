import {
  createPlantStoreClient,
  isPlantStoreError,
  type PlantStoreClient,
  type PlantStoreClientOptions,
} from '@plant-store/client'
import type { Command } from 'commander'
import { CliError } from './cli-error.ts'
import type { Environment } from './environment.ts'
import { exitCodes } from './exit-codes.ts'
import { DEFAULT_PROFILE, listProfiles, type Profile, readProfile } from './profiles.ts'
import type { Terminal } from './terminal.ts'
import { readTokenFile } from './token.ts'
import { readVersion } from './version.ts'

/** The flags that say where plants go and with which token. */
export interface ConnectionOptions {
  readonly profile?: string
  readonly baseUrl?: string
  readonly tokenFile?: string
}

/** Gives a command the flags of a connection. */
export function addConnectionOptions(command: Command): Command {
  return command
    .optionsGroup('Where to:')
    .option('--profile <name>', `the login to use (default: ${DEFAULT_PROFILE})`)
    .option('--base-url <url>', 'the URL of the plant store')
    .option('--token-file <path>', 'a file that holds the token')
}

/** A value and where it comes from, in words. */
interface Sourced {
  readonly value: string
  readonly from: string
}

/** A token, and the only URL that it may go to; undefined where nothing names one. */
interface SourcedToken extends Sourced {
  readonly place: string | undefined
}

/** Where plants go and with which token. */
export interface Target {
  readonly baseUrl: Sourced
  readonly token: Sourced
}

function findOwnUrl({ baseUrl }: ConnectionOptions, environment: Environment): Sourced | undefined {
  if (baseUrl !== undefined) return { value: baseUrl, from: '--base-url' }
  const value = environment.PLANT_STORE_BASE_URL
  return value === undefined ? undefined : { value, from: 'PLANT_STORE_BASE_URL' }
}

async function findOwnToken(
  { tokenFile }: ConnectionOptions,
  environment: Environment,
): Promise<SourcedToken | undefined> {
  if (tokenFile !== undefined) {
    return { value: await readTokenFile(tokenFile), from: '--token-file', place: undefined }
  }
  const value = environment.PLANT_STORE_TOKEN
  const place = environment.PLANT_STORE_BASE_URL
  return value === undefined ? undefined : { value, from: 'PLANT_STORE_TOKEN', place }
}

async function requireProfile(
  name: string,
  isNamed: boolean,
  terminal: Terminal,
): Promise<Profile> {
  const profile = await readProfile(name, terminal)
  if (profile !== undefined) return profile
  const names = await listProfiles()
  const others = names.length === 0 ? '' : `; there are: ${names.join(', ')}`
  const login = `plant-store login URL${isNamed ? ` --profile ${name}` : ''}`
  throw new CliError(
    isNamed ? `there is no profile ${name}${others}` : `you are not logged in${others}`,
    exitCodes.notAllowed,
    { hint: `${login}, or set PLANT_STORE_BASE_URL and PLANT_STORE_TOKEN` },
  )
}

/** Whether two URLs are those of one plant store. */
function isSamePlace(one: string, other: string): boolean {
  const normalize = (url: string) => (URL.canParse(url) ? new URL(url).href : url)
  return normalize(one).replace(/\/+$/, '') === normalize(other).replace(/\/+$/, '')
}

/** A token is sent to no other place than the one that it was given for. */
function refuseOtherPlace({ from, place }: SourcedToken, baseUrl: Sourced): void {
  if (place === undefined || isSamePlace(place, baseUrl.value)) return
  throw new CliError(
    `the token (${from}) is for ${place}; it is not sent to ${baseUrl.value} (${baseUrl.from})`,
    exitCodes.notAllowed,
    { hint: `plant-store login ${baseUrl.value} --profile NAME, or --token-file` },
  )
}

/** A token of the environment without a URL is for no profile that nobody named. */
function refuseLoneToken(): never {
  throw new CliError(
    'PLANT_STORE_TOKEN is set, but no URL that it is for; it is not sent to that of your login',
    exitCodes.notAllowed,
    { hint: 'set PLANT_STORE_BASE_URL, too, or unset PLANT_STORE_TOKEN' },
  )
}

/**
 * Which plant store and token are meant. A flag beats the environment, which beats the profile; a
 * profile that a flag names beats the environment.
 * @throws CliError where one is missing, and where the token is for another URL; nothing was sent.
 */
export async function resolveTarget(
  options: ConnectionOptions,
  terminal: Terminal,
): Promise<Target> {
  const environment = options.profile === undefined ? terminal.environment : {}
  const named = options.profile ?? environment.PLANT_STORE_PROFILE
  const name = named ?? DEFAULT_PROFILE
  const ownUrl = findOwnUrl(options, environment)
  const ownToken = await findOwnToken(options, environment)
  if (ownUrl !== undefined && ownToken !== undefined) {
    refuseOtherPlace(ownToken, ownUrl)
    return { baseUrl: ownUrl, token: ownToken }
  }
  const isLone = ownToken?.from === 'PLANT_STORE_TOKEN' && named === undefined
  if (isLone) refuseLoneToken()
  const profile = await requireProfile(name, named !== undefined, terminal)
  const from = `profile ${name}`
  const baseUrl = ownUrl ?? { value: profile.baseUrl, from }
  const token = ownToken ?? { value: profile.token, from, place: profile.baseUrl }
  refuseOtherPlace(token, baseUrl)
  return { baseUrl, token }
}

/**
 * A client of a plant store; `extra` are options of the client beside URL and token.
 * @throws CliError where URL or token cannot be one.
 */
export function createClient(
  { baseUrl, token }: Target,
  extra: PlantStoreClientOptions = {},
): PlantStoreClient {
  try {
    const appName = `plant-store-cli/${readVersion()}`
    return createPlantStoreClient({
      appName,
      ...extra,
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

/** A client of the plant store that is meant, and its URL for messages. */
export interface Connection {
  readonly client: PlantStoreClient
  readonly baseUrl: string
}

/**
 * Opens the plant store that flags, environment and profile name. Nothing is sent.
 * @throws CliError as `resolveTarget` and `createClient` do
 */
export async function openClient(
  options: ConnectionOptions,
  terminal: Terminal,
  extra: PlantStoreClientOptions = {},
): Promise<Connection> {
  const target = await resolveTarget(options, terminal)
  return { client: createClient(target, extra), baseUrl: target.baseUrl.value }
}
