import { readFileSync } from 'node:fs'
import { closest } from 'fastest-levenshtein'
import * as z from 'zod'
import { PARAMETERS } from '../engines/postgres/parameters.ts'
import { describeConflicts } from './conflicts.ts'
import {
  environmentNameOf,
  flagOf,
  PREFIX,
  SECRETS,
  type SettingName,
  settingNames,
  settings,
} from './settings.ts'
import { readTracesConfig, type TracesConfig } from './traces-config.ts'

/** Settings that are wrong; the message names each problem with its source and its fix. */
export class ConfigError extends Error {
  override name = 'ConfigError'

  constructor(problems: readonly string[]) {
    super(problems.map((problem) => `  ${problem}`).join('\n'))
  }
}

/** The settings after their check, each as what its schema makes of it. */
export type Config = { [Name in SettingName]: z.output<(typeof settings)[Name]['schema']> } & {
  /** NODE_ENV is `production`. */
  readonly isProduction: boolean
  /** Where spans are sent; undefined for nowhere. */
  readonly traces: TracesConfig | undefined
  /** Who ran the program by sudo, as far as the environment can be believed. */
  readonly sudoUser: string | undefined
}

/** Names that other programs of this project read; the server lets them be. */
const FOREIGN_NAMES = ['BASE_URL', 'TOKEN', 'TOKEN_FILE', 'TEST_DATABASE_URL'].map(
  (name) => PREFIX + name,
)

export type Environment = Readonly<Record<string, string | undefined>>
export type Flags = { readonly [Name in SettingName]?: string }

interface Found {
  readonly text: string
  readonly source: string
}

/**
 * A flag beats the environment, in which a setting or a file that holds it is named, which beats the
 * default.
 * @throws Error for a setting that is named in both ways, or a file that cannot be read.
 */
function find(name: SettingName, flags: Flags, environment: Environment): Found {
  const flag = flags[name]
  if (flag !== undefined) return { text: flag, source: flagOf(name) }
  const source = environmentNameOf(name)
  const text = environment[source]
  const path = SECRETS.has(name) ? environment[`${source}_FILE`] : undefined
  if (text !== undefined && path !== undefined) {
    throw new Error(`is set, and so is ${source}: set one of the two`)
  }
  if (text !== undefined) return { text, source }
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
  const { NODE_ENV, SUDO_USER: sudoUser } = environment
  const values: Record<string, unknown> = {
    isProduction: NODE_ENV === 'production',
    sudoUser,
    traces: readTracesConfig(environment, problems),
  }
  const set = new Set<SettingName>()
  for (const name of settingNames) {
    try {
      const { text, source } = find(name, flags, environment)
      if (text !== settings[name].initial) set.add(name)
      const result = z.safeParse(settings[name].schema, text)
      values[name] = result.data
      if (result.success) continue
      const shown = SECRETS.has(name) ? '' : ` (it is ${JSON.stringify(text)})`
      problems.push(`${source}: ${result.error.issues[0]?.message}${shown}`)
    } catch (error) {
      problems.push(`${environmentNameOf(name)}_FILE: ${(error as Error).message}`)
    }
  }
  problems.push(...describeConflicts((name) => set.has(name), values))
  if (problems.length > 0) throw new ConfigError(problems)
  return values as Config
}

const MASK = '***'

const HIDDEN_PARAMETER = /passw|secret|_key/

/**
 * A URL without its secrets, where it can be understood in one way only: an `@` behind the host, a
 * parameter without a name that is known, or a colon in the user may be a part of a password.
 */
function maskUrl(text: string): string | undefined {
  const url = URL.parse(text)
  const [, rest = '@'] = /^\w+:\/\/[^/?#]*(.*)$/s.exec(text) ?? []
  if (url === null || /[@#\s]/.test(rest) || /%3a/i.test(url.username)) return undefined
  if (url.password !== '') url.password = MASK
  for (const name of new Set(url.searchParams.keys())) {
    if (!Object.hasOwn(PARAMETERS, name)) return undefined
    if (HIDDEN_PARAMETER.test(name)) url.searchParams.set(name, MASK)
  }
  return url.href
}

/** A database URL without what may be a password: in doubt, nothing but its scheme. */
function maskPassword(text: string): string {
  const [scheme = ''] = /^[a-z]+:/i.exec(text) ?? []
  if (/^sqlite:$/i.test(scheme)) return text
  return maskUrl(text) ?? `${scheme}${MASK}`
}

/** A setting as it counts, for people. */
export interface DescribedSetting {
  readonly environmentName: string
  /** Without the passwords in it. */
  readonly text: string
  /** The flag, the environment variable, or `default`. */
  readonly source: string
}

/** Every setting with where it comes from, unchecked: see loadConfig. */
export function describeSettings(
  flags: Flags,
  environment: Environment = process.env,
): DescribedSetting[] {
  return settingNames.map((name) => {
    const { text, source } = find(name, flags, environment)
    const environmentName = environmentNameOf(name)
    return { environmentName, text: SECRETS.has(name) ? maskPassword(text) : text, source }
  })
}
