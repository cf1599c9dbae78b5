import { closest, distance } from 'fastest-levenshtein'
import {
  type Environment,
  environmentNameOf,
  flagOf,
  PREFIX,
  SECRETS,
  settingNames,
} from './settings.ts'

/** Variables of this project that are no settings of the server. */
const FOREIGN_NAMES = [
  ...['BASE_URL', 'TOKEN', 'TOKEN_FILE', 'STARTED_AS', 'TEST_DATABASE_URL'],
  ...['TEST_POSTGRES_URL', 'TEST_POSTGRES_KILL', 'TEST_POSTGRES_KILLS'],
].map((name) => PREFIX + name)

/** A name without what all settings begin with, which would make any two of them alike. */
function ownPart(name: string): string {
  return name.replace(/^--?/, '').replace(PREFIX, '')
}

/** The name that was meant: one that begins so, or differs in a letter of three at most. */
function findMeant(name: string, known: readonly string[]): string | undefined {
  const own = ownPart(name)
  const begun = known.find((other) => own.length > 2 && ownPart(other).startsWith(own))
  const meant = begun ?? closest(name, known)
  const isNear = begun !== undefined || distance(name, meant) * 3 <= own.length
  return isNear ? meant : undefined
}

function describeUnknown(kind: string, name: string, known: readonly string[], list: string) {
  const meant = findMeant(name, known)
  const hint = meant === undefined ? `Try: plant-store-server ${list}` : `Did you mean ${meant}?`
  return `${name}: there is no such ${kind}. ${hint}`
}

function describeUnknownSetting(name: string, known: readonly string[]): string {
  return describeUnknown('setting', name, known, 'serve --help')
}

/** A problem for each variable that looks like a setting and is none. */
export function describeUnknownVariables(environment: Environment): string[] {
  const own = settingNames.flatMap((name) => {
    const environmentName = environmentNameOf(name)
    return SECRETS.has(name) ? [environmentName, `${environmentName}_FILE`] : [environmentName]
  })
  const known = [...own, ...FOREIGN_NAMES]
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name))
    .map((name) => describeUnknownSetting(name, own))
}

/** A problem for each flag that is no setting, and for the first word that is no command. */
export function describeUnknownArguments(
  unknown: readonly string[],
  commands: readonly string[],
): string[] {
  const isFlag = (argument: string | undefined) => argument?.startsWith('-') === true
  const isValueOf = (flag: string | undefined) => isFlag(flag) && !flag?.includes('=')
  const problems = unknown
    .filter(isFlag)
    .map((flag) => describeUnknownSetting(flag.split('=')[0] ?? flag, settingNames.map(flagOf)))
  const word = unknown.find(
    (argument, index) => !isFlag(argument) && !isValueOf(unknown[index - 1]),
  )
  if (word === undefined) return problems
  return [...problems, describeUnknown('command', word, commands, '--help')]
}
