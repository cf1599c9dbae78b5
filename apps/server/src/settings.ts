import * as z from 'zod'
import type { Address } from './http/listener.ts'

/** How the environment names of all settings begin. */
export const PREFIX = 'PLANT_STORE_'

/** `host:port`, an IPv6 host in brackets. */
const ADDRESS = /^(?:\[([\da-f:.]+)\]|([^:[\]/\s]+)):(\d{1,5})$/i

function parseAddress(text: string): Address | undefined {
  const [, ipv6, name, digits] = ADDRESS.exec(text) ?? []
  const host = ipv6 ?? name
  const port = Number(digits)
  return host !== undefined && port <= 65_535 ? { host, port } : undefined
}

const address = z.string().transform((text, context): Address => {
  const parsed = parseAddress(text)
  if (parsed !== undefined) return parsed
  context.addIssue('must be a host and a port, such as 127.0.0.1:3000')
  return z.NEVER
})

function wholeNumber(least: number, most: number) {
  const rule = `must be a whole number from ${least} to ${most}`
  return z
    .string()
    .regex(/^\d+$/, rule)
    .transform(Number)
    .refine((n) => n >= least && n <= most, rule)
}

/** An address to which paths such as /plants are added. */
function isBaseAddress(text: string): boolean {
  return /^https?:\/\/[^\s?#@]*[^\s?#@/]$/.test(text) && URL.canParse(text)
}

const duration = wholeNumber(100, 3_600_000)

interface Setting<Value> {
  readonly initial: string
  readonly about: string
  readonly schema: z.ZodType<Value, string>
}

function setting<Value>(
  initial: string,
  about: string,
  schema: z.ZodType<Value, string>,
): Setting<Value> {
  return { initial, about, schema }
}

/** Every setting of the server. `bodyLimitBytes` is PLANT_STORE_BODY_LIMIT_BYTES and --body-limit-bytes. */
export const settings = {
  listen: setting('127.0.0.1:3000', 'where the service listens', address),
  operationsListen: setting(
    '127.0.0.1:3001',
    'where /livez and /readyz listen, or off',
    z.union([z.literal('off').transform(() => undefined), address], {
      error: 'must be a host and a port, such as 127.0.0.1:3001, or off',
    }),
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
    z.enum(['yes', 'no'], { error: 'must be yes or no' }).transform((answer) => answer === 'yes'),
  ),
  bodyLimitBytes: setting('65536', 'the longest body taken', wholeNumber(64, 16_777_216)),
  headerLimitBytes: setting('16384', 'the longest header taken', wholeNumber(1_024, 1_048_576)),
  queueLimit: setting('8192', 'how many plants may wait for a commit', wholeNumber(1, 1_000_000)),
  headersTimeoutMs: setting('10000', 'how long a header may take to arrive', duration),
  requestTimeoutMs: setting('30000', 'how long a request may take to arrive', duration),
  keepAliveTimeoutMs: setting('75000', 'how long an idle connection stays open', duration),
  shutdownTimeoutMs: setting('7000', 'how long requests in flight may take at the end', duration),
  docs: setting(
    'on',
    'on or off: whether the OpenAPI document and its page are served',
    z.enum(['on', 'off'], { error: 'must be on or off' }).transform((answer) => answer === 'on'),
  ),
  publicUrl: setting(
    'auto',
    'the base address in the OpenAPI document; auto: the Host of the request',
    z
      .string()
      .refine((text) => text === 'auto' || isBaseAddress(text), {
        error:
          'must be http:// or https:// and a host, with no user and no slash at its end, or auto',
      })
      .transform((text) => (text === 'auto' ? undefined : text)),
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
