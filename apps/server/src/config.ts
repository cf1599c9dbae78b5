import { readFileSync } from 'node:fs'
import { closest } from 'fastest-levenshtein'
import * as z from 'zod'
import type { Address } from './http/listener.ts'

/** Settings that are wrong; the message names each problem with its source and its mend. */
export class ConfigError extends Error {
  override name = 'ConfigError'

  constructor(problems: readonly string[]) {
    super(problems.map((problem) => `  ${problem}`).join('\n'))
  }
}

const PREFIX = 'PLANT_STORE_'

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
    z.string().regex(/^sqlite:./, 'must be sqlite: and a path, such as sqlite:./data/plants.db'),
  ),
  bodyLimitBytes: setting('65536', 'the longest body taken', wholeNumber(64, 16_777_216)),
  headerLimitBytes: setting('16384', 'the longest header taken', wholeNumber(1_024, 1_048_576)),
  queueLimit: setting('8192', 'how many plants may wait for a commit', wholeNumber(1, 1_000_000)),
  headersTimeoutMs: setting('10000', 'how long a header may take to arrive', duration),
  requestTimeoutMs: setting('30000', 'how long a request may take to arrive', duration),
  keepAliveTimeoutMs: setting('75000', 'how long an idle connection stays open', duration),
  shutdownTimeoutMs: setting('7000', 'how long requests in flight may take at the end', duration),
  logLevel: setting(
    'info',
    'what is logged: fatal, error, warn, info, debug, trace or silent',
    z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: 'must be fatal, error, warn, info, debug, trace or silent',
    }),
  ),
}

export type SettingName = keyof typeof settings

/** The settings after their check, each as what its schema makes of it. */
export type Config = { [Name in SettingName]: z.output<(typeof settings)[Name]['schema']> } & {
  /** NODE_ENV is `production`. */
  readonly isProduction: boolean
}

/** Names that other programs of this project read; the server lets them be. */
const FOREIGN_NAMES = ['BASE_URL', 'TOKEN', 'TOKEN_FILE', 'TEST_DATABASE_URL'].map(
  (name) => PREFIX + name,
)

/** Settings that may hold a password, and so may come from a file. */
const SECRETS = new Set<SettingName>(['databaseUrl'])

const settingNames = Object.keys(settings) as SettingName[]

function wordsOf(name: SettingName): string[] {
  return name.split(/(?=[A-Z])/)
}

export function environmentNameOf(name: SettingName): string {
  return PREFIX + wordsOf(name).join('_').toUpperCase()
}

export function flagOf(name: SettingName): string {
  return `--${wordsOf(name).join('-').toLowerCase()}`
}

export type Environment = Readonly<Record<string, string | undefined>>
export type Flags = { readonly [Name in SettingName]?: string }

interface Found {
  readonly text: string
  readonly source: string
}

/** A flag beats the environment, which beats a file named there, which beats the default. */
function find(name: SettingName, flags: Flags, environment: Environment): Found {
  const flag = flags[name]
  if (flag !== undefined) return { text: flag, source: flagOf(name) }
  const source = environmentNameOf(name)
  const text = environment[source]
  if (text !== undefined) return { text, source }
  const path = SECRETS.has(name) ? environment[`${source}_FILE`] : undefined
  if (path === undefined) return { text: settings[name].initial, source: 'default' }
  return { text: readFileSync(path, 'utf8').trim(), source: `${source}_FILE` }
}

function describeUnknown(name: string, known: readonly string[]): string {
  return `${name}: there is no such setting. Did you mean ${closest(name, known)}?`
}

function findUnknownNames(environment: Environment): string[] {
  const own = settingNames.flatMap((name) => {
    const environmentName = environmentNameOf(name)
    return SECRETS.has(name) ? [environmentName, `${environmentName}_FILE`] : [environmentName]
  })
  const known = [...own, ...FOREIGN_NAMES]
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name))
    .map((name) => describeUnknown(name, own))
}

/** A problem for each flag that names no setting, and for the first word that is no command. */
export function describeUnknownArguments(
  unknown: readonly string[],
  commands: readonly string[],
): string[] {
  const isFlag = (argument: string | undefined) => argument?.startsWith('-') === true
  const isValueOf = (flag: string | undefined) => isFlag(flag) && !flag?.includes('=')
  const problems = unknown
    .filter(isFlag)
    .map((flag) => describeUnknown(flag.split('=')[0] ?? flag, settingNames.map(flagOf)))
  const word = unknown.find(
    (argument, index) => !isFlag(argument) && !isValueOf(unknown[index - 1]),
  )
  if (word === undefined) return problems
  return [
    ...problems,
    `${word}: there is no such command. Did you mean ${closest(word, commands)}?`,
  ]
}

/**
 * The settings from flags and the environment, checked as a whole.
 * @throws ConfigError with every problem that was found.
 */
export function loadConfig(
  flags: Flags,
  earlierProblems: readonly string[] = [],
  environment: Environment = process.env,
): Config {
  const problems = [...earlierProblems, ...findUnknownNames(environment)]
  const values: Record<string, unknown> = { isProduction: environment.NODE_ENV === 'production' }
  for (const name of settingNames) {
    try {
      const { text, source } = find(name, flags, environment)
      const result = settings[name].schema.safeParse(text)
      values[name] = result.data
      if (result.success) continue
      const shown = SECRETS.has(name) ? '' : ` (it is ${JSON.stringify(text)})`
      problems.push(`${source}: ${result.error.issues[0]?.message}${shown}`)
    } catch (error) {
      problems.push(`${environmentNameOf(name)}_FILE: ${(error as Error).message}`)
    }
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return values as Config
}
