import { closest } from 'fastest-levenshtein'
import {
  type Environment,
  environmentNameOf,
  flagOf,
  PREFIX,
  SECRETS,
  settingNames,
} from './settings.ts'

/** Variables of other programs of this project, which the server ignores. */
const FOREIGN_NAMES = ['BASE_URL', 'TOKEN', 'TOKEN_FILE', 'TEST_DATABASE_URL'].map(
  (name) => PREFIX + name,
)

function describeUnknown(name: string, known: readonly string[]): string {
  return `${name}: there is no such setting. Did you mean ${closest(name, known)}?`
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
    .map((name) => describeUnknown(name, own))
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
