import { statSync } from 'node:fs'
import * as z from 'zod'
import { maskDatabaseUrl } from '../engines.ts'
import { readSmallFile } from '../process/read-small-file.ts'
import {
  type Environment,
  environmentNameOf,
  flagOf,
  SECRETS,
  type SettingName,
  settingNames,
  settings,
} from './settings.ts'
import { readTracesConfig, type TracesConfig } from './traces-config.ts'
import { describeUnknownVariables } from './unknown-names.ts'

/** Wrong settings; the message names each problem with its source and its fix. */
export class ConfigError extends Error {
  override name = 'ConfigError'

  constructor(problems: readonly string[]) {
    super(problems.map((problem) => `  ${problem}`).join('\n'))
  }
}

/** A setting as it may be shown: without a password. */
export interface ShownSetting {
  readonly name: string
  readonly text: string
  /** The flag or the variable that set it, or `default`. */
  readonly source: string
}

/** The checked settings, each as the output of its schema. */
export type Config = { [Name in SettingName]: z.output<(typeof settings)[Name]['schema']> } & {
  /** The setting of that name as it is now, from its file where it has one. */
  readonly readDatabaseUrl: () => string
  /** NODE_ENV is `production`. */
  readonly isProduction: boolean
  /** No missing store is made: one was named, or this is production, so that a store is expected. */
  readonly mustExist: boolean
  /** Where spans are sent; undefined sends none. */
  readonly traces: TracesConfig | undefined
  /** Every setting, for people. */
  readonly shown: readonly ShownSetting[]
  /** Those that differ from their defaults. */
  readonly changedSettings: readonly ShownSetting[]
  /** The file of the database URL, if more than its owner and its group may read it, or others change it. */
  readonly openFile: string | undefined
  /** Who ran the program with sudo, as far as the environment can be believed. */
  readonly sudoUser: string | undefined
}

export type Flags = { readonly [Name in SettingName]?: string }

/** Longer than any database URL. */
const MOST_BYTES = 65_536

/** How the settings are shown that may hold a secret: an address of keys may have one in its query. */
const MASKS: { readonly [Name in SettingName]?: (text: string) => string } = {
  databaseUrl: maskDatabaseUrl,
  jwksUrl: (text) => text.replace(/[?#].*/s, '?***'),
}

/**
 * The text of a setting and its source: the flag, else the environment, which holds the setting or
 * names a file with it, at `path`, else the default.
 * @throws Error for a setting that is set in both ways, or a file that cannot be read.
 */
function findSetting(
  name: SettingName,
  flags: Flags,
  environment: Environment,
): { readonly text: string; readonly source: string; readonly path?: string } {
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
  return { text: readSmallFile(path, MOST_BYTES).trim(), source: `${source}_FILE`, path }
}

const ANY_CERTIFICATE =
  'NODE_TLS_REJECT_UNAUTHORIZED: with 0 anybody could pose as the database or the issuer: unset it, and name an authority of your own in NODE_EXTRA_CA_CERTS'

/** Whether other users may read or change a file, where they can be told from its mode. */
function isOpenToOthers(path: string | undefined): boolean {
  if (path === undefined || process.platform === 'win32') return false
  return (statSync(path).mode & 0o027) !== 0
}

/** `changed`: the variables of the settings that differ from their defaults. */
function describeJwtSettings(changed: readonly string[]): string[] {
  const sources = [environmentNameOf('jwksUrl'), environmentNameOf('jwksFile')]
  const claims = [environmentNameOf('jwtIssuer'), environmentNameOf('jwtAudience')]
  const [source, other] = sources.filter((name) => changed.includes(name))
  if (other !== undefined) return [`${source}: cannot be set together with ${other}`]
  if (source === undefined) {
    const idle = claims.filter((name) => changed.includes(name))
    return idle.map((name) => `${name}: means nothing without ${sources.join(' or ')}`)
  }
  const missing = claims.filter((name) => !changed.includes(name))
  return missing.map((name) => `${name}: must be set with ${source}, or any token would do`)
}

/**
 * The settings from flags and the environment, checked as a whole.
 * @throws ConfigError with every problem.
 */
export function loadConfig(flags: Flags, environment: Environment = process.env): Config {
  const problems = describeUnknownVariables(environment)
  const { NODE_ENV, SUDO_USER: sudoUser } = environment
  const shown: ShownSetting[] = []
  const changedSettings: ShownSetting[] = []
  const values: Record<string, unknown> = {
    shown,
    changedSettings,
    readDatabaseUrl: () => findSetting('databaseUrl', flags, environment).text,
    isProduction: NODE_ENV === 'production',
    mustExist: NODE_ENV === 'production',
    sudoUser,
    traces: readTracesConfig(environment, problems),
  }
  for (const name of settingNames) {
    try {
      const { text, source, path } = findSetting(name, flags, environment)
      if (isOpenToOthers(path)) values.openFile = path
      const visible = MASKS[name]?.(text) ?? text
      const about = { name: environmentNameOf(name), text: visible, source }
      shown.push(about)
      if (text !== settings[name].initial) changedSettings.push(about)
      if (name === 'databaseUrl' && source !== 'default') values.mustExist = true
      const result = z.safeParse(settings[name].schema, text)
      values[name] = result.data
      if (result.success) continue
      const given = name in MASKS ? '' : ` (it is ${JSON.stringify(text)})`
      problems.push(`${source}: ${result.error.issues[0]?.message}${given}`)
    } catch (error) {
      problems.push(`${environmentNameOf(name)}_FILE: ${(error as Error).message}`)
    }
  }
  if (environment.NODE_TLS_REJECT_UNAUTHORIZED === '0') problems.push(ANY_CERTIFICATE)
  problems.push(...describeJwtSettings(changedSettings.map(({ name }) => name)))
  if (problems.length > 0) throw new ConfigError(problems)
  return values as Config
}
