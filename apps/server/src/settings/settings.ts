import * as z from 'zod'
import { parseNetwork } from '../limits/caller-address.ts'
import { jwksUrl, jwtAlgorithms, jwtTypes, textOrNone } from './jwt-schemas.ts'
import {
  address,
  baseAddressOrAuto,
  duration,
  isHostName,
  isOrigin,
  listOr,
  wholeNumber,
  wholeNumberOrOff,
} from './setting-schemas.ts'

/** How the environment names of all settings begin. */
export const PREFIX = 'PLANT_STORE_'

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

/** Every setting of the server. `bodyLimitBytes` is PLANT_STORE_BODY_LIMIT_BYTES and --body-limit-bytes. */
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
    'names and addresses in Host that it answers beside its own, or none',
    listOr(
      'none',
      isHostName,
      'must be a name or an address without a port, such as plants.internal',
    ),
  ),
  databaseUrl: setting(
    'sqlite:./data/plants.db',
    'the database',
    z
      .string()
      .regex(
        /^(?:sqlite:.|postgres(?:ql)?:\/\/.)/,
        'must be sqlite: and a path, or postgres:// and a database',
      ),
  ),
  allowDataLoss: setting(
    'no',
    'yes: take a PostgreSQL that could lose what was answered 200',
    z.enum(['yes', 'no'], { error: 'must be yes or no' }).transform((reply) => reply === 'yes'),
  ),
  jwksUrl: setting(
    'none',
    "the address of an issuer's keys; with it, its JWTs open the service",
    jwksUrl,
  ),
  jwksFile: setting('none', 'the same keys in a file instead', textOrNone),
  jwtIssuer: setting('none', 'the iss that a JWT must have', textOrNone),
  jwtAudience: setting('none', 'the aud that a JWT must have', textOrNone),
  jwtAlgorithms: setting(
    'ES256,EdDSA,Ed25519,PS256,RS256',
    'what a JWT may be signed with',
    jwtAlgorithms,
  ),
  jwtTypes: setting(
    'any',
    'the typ that a JWT must have: at+jwt; any takes JWT or none too',
    jwtTypes,
  ),
  auditFile: setting(
    'none',
    'where token commands and restore add a line about what they did',
    textOrNone,
  ),
  bodyLimitBytes: setting('65536', 'the longest body taken', wholeNumber(64, 16_777_216)),
  headerLimitBytes: setting('16384', 'the longest header taken', wholeNumber(1_024, 1_048_576)),
  queueLimit: setting('8192', 'how many plants may wait for a commit', wholeNumber(1, 1_000_000)),
  connectionLimit: setting('10000', 'how many connections may be open', wholeNumber(1, 1_000_000)),
  requestLimit: setting('4096', 'how many requests may be in flight', wholeNumber(1, 1_000_000)),
  addressLimit: setting(
    '1024',
    'how many connections one address may have, or requests that a trusted proxy forwards, or off',
    wholeNumberOrOff(1, 1_000_000),
  ),
  waitLimitMs: setting(
    '100',
    'how long plants may wait, on average, before more are refused',
    wholeNumber(10, 60_000),
  ),
  failedCredentialLimit: setting(
    '60',
    'how many requests from one address may have no valid token in a minute, or off',
    wholeNumberOrOff(1, 1_000_000),
  ),
  rateLimit: setting(
    'off',
    'how many requests one token may send in a second, or off',
    wholeNumberOrOff(1, 1_000_000),
  ),
  rateWindowSeconds: setting(
    '1',
    'of how many seconds a token may use its whole rate at once',
    wholeNumber(1, 3_600),
  ),
  trustedProxies: setting(
    'none',
    'whose X-Forwarded-For is believed: addresses and networks, or none',
    listOr(
      'none',
      (item) => parseNetwork(item) !== undefined,
      'must be an address or a network, such as 10.0.0.5 or 10.0.0.0/8',
    ),
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
  headersTimeoutMs: setting('10000', 'how long a header may take to arrive', duration),
  requestTimeoutMs: setting('30000', 'how long a request may take to arrive', duration),
  minDataRateBytes: setting(
    '1024',
    'how many bytes a caller must send of a body, and read of a reply, in a second',
    wholeNumber(1, 1_000_000_000),
  ),
  keepAliveTimeoutMs: setting('75000', 'how long an idle connection stays open', duration),
  shutdownDelayMs: setting(
    '0',
    'how long to serve on, no longer ready, before the end',
    wholeNumber(0, 60_000),
  ),
  shutdownTimeoutMs: setting('7000', 'how long requests in flight may take at the end', duration),
  docs: setting(
    'on',
    'on or off: whether the OpenAPI document and its page are served',
    z.enum(['on', 'off'], { error: 'must be on or off' }).transform((reply) => reply === 'on'),
  ),
  publicUrl: setting(
    'auto',
    'the base address in the OpenAPI document; auto: the Host of the request',
    baseAddressOrAuto,
  ),
  logLevel: setting(
    'info',
    'what is logged: fatal, error, warn, info, debug, trace or silent',
    z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: 'must be fatal, error, warn, info, debug, trace or silent',
    }),
  ),
}

export type SettingName = keyof typeof settings

/** Settings that may hold a password, and so may come from a file. */
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
