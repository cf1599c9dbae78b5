import * as z from 'zod'
import { databaseUrlForm, isDatabaseUrl } from '../engines.ts'
import { logFormats } from '../text/readable-line.ts'
import {
  address,
  baseAddressOrAuto,
  duration,
  isHostName,
  isOrigin,
  jwksUrl,
  listOr,
  parseNetwork,
  textOrNone,
  wholeNumber,
  wholeNumberOr,
} from './setting-schemas.ts'

/** The beginning of the environment names of all settings. */
export const PREFIX = 'PLANT_STORE_'

/** Environment variables, as process.env has them. */
export type Environment = Readonly<Record<string, string | undefined>>

interface Setting<Value> {
  readonly initial: string
  readonly about: string
  readonly schema: z.core.$ZodType<Value, string>
}

function setting<Value>(
  initial: string,
  about: string,
  schema: z.core.$ZodType<Value, string>,
): Setting<Value> {
  return { initial, about, schema }
}

/** Every setting of the server, in the order of its help. `bodyLimitBytes` is PLANT_STORE_BODY_LIMIT_BYTES and --body-limit-bytes. */
export const settings = {
  listen: setting('127.0.0.1:3000', 'where the service listens', address),
  operationsListen: setting(
    '127.0.0.1:3001',
    'where /livez, /readyz and /metrics listen, or off',
    z.union([z.literal('off').transform(() => undefined), address], {
      error: 'must be a host and a port, such as 127.0.0.1:3001, or off',
    }),
  ),
  operationsHosts: setting(
    'none',
    'more names and addresses that its callers may send as Host, or none',
    listOr(
      'none',
      isHostName,
      'must be a name or an address without a port, such as plants.internal',
    ),
  ),
  trustedProxies: setting(
    'none',
    'addresses and networks whose X-Forwarded-For is trusted, or none',
    listOr(
      'none',
      (item) => parseNetwork(item) !== undefined,
      'must be an address or a network, such as 10.0.0.5 or 10.0.0.0/8',
    ),
  ),
  databaseUrl: setting(
    'sqlite:./data/plants.db',
    'the database',
    z.string().refine(isDatabaseUrl, `must be ${databaseUrlForm}`),
  ),
  allowDataLoss: setting(
    'no',
    'yes: accept a PostgreSQL that could lose plants that were answered 200',
    z.enum(['yes', 'no'], { error: 'must be yes or no' }).transform((reply) => reply === 'yes'),
  ),
  jwksUrl: setting('none', "the URL of an issuer's keys; its JWTs then open the service", jwksUrl),
  jwksFile: setting('none', 'the same keys in a file instead', textOrNone),
  jwtIssuer: setting('none', 'the iss that a JWT must have', textOrNone),
  jwtAudience: setting('none', 'the aud that a JWT must have', textOrNone),
  auditFile: setting(
    'none',
    'the file where token commands and restore record what they did, or none',
    textOrNone,
  ),
  corsOrigins: setting(
    'off',
    'the origins whose pages may call the service, or off',
    listOr(
      'off',
      isOrigin,
      'must be an origin as browsers send it, such as https://plants.example; there is no *',
    ),
  ),
  bodyLimitBytes: setting('65536', 'the longest body accepted', wholeNumber(64, 16_777_216)),
  connectionLimit: setting('10000', 'how many connections may be open', wholeNumber(1, 1_000_000)),
  requestLimit: setting('4096', 'how many requests may be in flight', wholeNumber(1, 1_000_000)),
  addressLimit: setting(
    '1024',
    'how many connections one address may have, or requests that a trusted proxy forwards, or off',
    wholeNumberOr('off', 1, 1_000_000),
  ),
  failedCredentialLimit: setting(
    '60',
    'how many requests without a valid token one address may send in a minute, or off',
    wholeNumberOr('off', 1, 1_000_000),
  ),
  rateLimit: setting(
    'off',
    'how many requests one token may send in a second, or off',
    wholeNumberOr('off', 1, 1_000_000),
  ),
  requestTimeoutMs: setting('30000', 'how long a request may take to arrive', duration),
  keepAliveTimeoutMs: setting('75000', 'how long an idle connection stays open', duration),
  shutdownDelayMs: setting(
    '0',
    'how long to serve, while not ready, before the end',
    wholeNumber(0, 60_000),
  ),
  shutdownTimeoutMs: setting(
    '7000',
    'how long requests in flight may still take at the end',
    duration,
  ),
  docs: setting(
    'on',
    'on or off: whether the OpenAPI document and its page are served',
    z.enum(['on', 'off'], { error: 'must be on or off' }).transform((reply) => reply === 'on'),
  ),
  publicUrl: setting(
    'auto',
    'the base URL in the OpenAPI document; auto: /, the place that it is read from',
    baseAddressOrAuto,
  ),
  logLevel: setting(
    'info',
    'what is logged: fatal, error, warn, info, debug, trace or silent',
    z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: 'must be fatal, error, warn, info, debug, trace or silent',
    }),
  ),
  logFormat: setting(
    'auto',
    'text for people, json for programs; auto: text where standard error is a terminal',
    z.enum(logFormats, { error: 'must be auto, text or json' }),
  ),
}

export type SettingName = keyof typeof settings

/** Settings that may hold a password, so a file may hold them. */
export const SECRETS = new Set<SettingName>(['databaseUrl'])

export const settingNames = Object.keys(settings) as SettingName[]

/** The groups of settings: each begins with the setting that stands before its title. */
const GROUPS: { readonly [Name in SettingName]?: string } = {
  listen: 'Where it listens',
  databaseUrl: 'The store',
  jwksUrl: 'Who may call',
  bodyLimitBytes: 'Limits',
  requestTimeoutMs: 'Time-outs',
  shutdownDelayMs: 'At the end',
  docs: 'The OpenAPI document',
  logLevel: 'The log',
}

interface SettingGroup {
  readonly title: string
  readonly names: readonly SettingName[]
}

function groupSettings(): SettingGroup[] {
  const groups: { title: string; names: SettingName[] }[] = []
  for (const name of settingNames) {
    const title = GROUPS[name]
    if (title !== undefined) groups.push({ title, names: [] })
    groups.at(-1)?.names.push(name)
  }
  return groups
}

/** Every setting in its group, in the order of help and documents. */
export const settingGroups: readonly SettingGroup[] = groupSettings()

function wordsOf(name: SettingName): string[] {
  return name.split(/(?=[A-Z])/)
}

export function environmentNameOf(name: SettingName): string {
  return PREFIX + wordsOf(name).join('_').toUpperCase()
}

export function flagOf(name: SettingName): string {
  return `--${wordsOf(name).join('-').toLowerCase()}`
}
