import { PARAMETERS } from '../engines/postgres/parameters.ts'
import { type Flags, findSetting } from './config.ts'
import { type Environment, environmentNameOf, SECRETS, settingNames } from './settings.ts'

const MASK = '***'

const HIDDEN_PARAMETER = /passw|secret|_key/

/**
 * A URL without its secrets; undefined where it can be read in more than one way: an `@` after the
 * host, a parameter with an unknown name, or a colon in the user may be part of a password.
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

/** A database URL without anything that may be a password: in doubt, only its scheme. */
function maskPassword(text: string): string {
  const [scheme = ''] = /^[a-z]+:/i.exec(text) ?? []
  if (/^sqlite:$/i.test(scheme)) return text
  return maskUrl(text) ?? `${scheme}${MASK}`
}

/** The value of a setting, for people. */
export interface DescribedSetting {
  readonly environmentName: string
  /** Without passwords. */
  readonly text: string
  /** The flag, the environment variable, or `default`. */
  readonly source: string
}

/**
 * Every setting with its source. The values are not checked: loadConfig does that.
 * @throws Error as findSetting does.
 */
export function describeSettings(flags: Flags, environment?: Environment): DescribedSetting[] {
  return settingNames.map((name) => {
    const { text, source } = findSetting(name, flags, environment)
    const environmentName = environmentNameOf(name)
    return { environmentName, text: SECRETS.has(name) ? maskPassword(text) : text, source }
  })
}
