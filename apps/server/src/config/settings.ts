import * as z from 'zod'
import { databaseUrlForm, isDatabaseUrl } from '../engines.ts'
import {
  address,
  addressOrOff,
  baseAddressOrAuto,
  count,
  countOrOff,
  duration,
  jwksUrl,
  logLevel,
  networks,
  origins,
  textOrNone,
  wholeNumber,
  yesOr,
} from './setting-schemas.ts'

/** The beginning of the environment names of all settings. */
export const PREFIX = 'PLANT_STORE_'

/** Environment variables, as process.env has them. */
export type Environment = Readonly<Record<string, string | undefined>>

function setting<Value>(initial: string, about: string, schema: z.core.$ZodType<Value, string>) {
  return { initial, about, schema }
}

/** Every setting of the server, in the order of its help. `bodyLimitBytes` is PLANT_STORE_BODY_LIMIT_BYTES and --body-limit-bytes. */
export const settings = {
  listen: setting('127.0.0.1:3000', 'where the service listens', address),
  operationsListen: setting(
    '127.0.0.1:3001',
    'where /livez, /readyz and /metrics listen, or off',
    addressOrOff,
  ),
  trustedProxies: setting(
    'none',
    'addresses and networks whose X-Forwarded-For is trusted, or none',
    networks,
  ),
  databaseUrl: setting(
    'sqlite:./data/plants.db',
    'the database',
    z.string().refine(isDatabaseUrl, `must be ${databaseUrlForm}`),
  ),
  allowDataLoss: setting(
    'no',
    'yes: accept a PostgreSQL that could lose plants that were answered 200',
    yesOr('yes', 'no'),
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
  corsOrigins: setting('off', 'the origins whose pages may call the service, or off', origins),
  bodyLimitBytes: setting('65536', 'the longest body accepted', wholeNumber(64, 16_777_216)),
  connectionLimit: setting('10000', 'how many connections may be open', count),
  requestLimit: setting('4096', 'how many requests may be in flight', count),
  addressLimit: setting(
    '1024',
    'how many connections one address may have, or requests that a trusted proxy forwards, or off',
    countOrOff,
  ),
  failedCredentialLimit: setting(
    '60',
    'how many requests without a valid token one address may send in a minute, or off',
    countOrOff,
  ),
  rateLimit: setting('off', 'how many requests one token may send in a second, or off', countOrOff),
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
    yesOr('on', 'off'),
  ),
  publicUrl: setting(
    'auto',
    'the base URL in the OpenAPI document; auto: /, the place that it is read from',
    baseAddressOrAuto,
  ),
  logLevel: setting(
    'info',
    'what is logged: fatal, error, warn, info, debug, trace or silent',
    logLevel,
  ),
}

export type SettingName = keyof typeof settings

/** Settings that may hold a password, so a file may hold them. */
export const SECRETS = new Set<SettingName>(['databaseUrl'])

export const settingNames = Object.keys(settings) as SettingName[]

function wordsOf(name: SettingName): string[] {
  return name.split(/(?=[A-Z])/)
}

export function environmentNameOf(name: SettingName): string {
  return PREFIX + wordsOf(name).join('_').toUpperCase()
}

export function flagOf(name: SettingName): string {
  return `--${wordsOf(name).join('-').toLowerCase()}`
}
