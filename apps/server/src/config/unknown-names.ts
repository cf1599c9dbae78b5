import {
  type Environment,
  environmentNameOf,
  flagOf,
  PREFIX,
  SECRETS,
  settingNames,
} from './settings.ts'

/** Variables of this project that are no settings of the server. */
const FOREIGN = /^PLANT_STORE_(?:BASE_URL|TOKEN|TOKEN_FILE|TEST_\w+)$/

/** A name without what all settings begin with, which would make any two of them alike. */
function ownPart(name: string): string {
  return name.replace(/^--?/, '').replace(PREFIX, '')
}

/** With how many equal letters both begin. */
function likenessOf(name: string, other: string): number {
  const own = ownPart(name)
  let length = own.length
  while (!ownPart(other).startsWith(own.slice(0, length))) length--
  return length
}

/** `list` is the command that shows what there is. */
function describeUnknown(kind: string, name: string, known: readonly string[], list: string) {
  const meant = known.reduce((best, other) =>
    likenessOf(name, other) > likenessOf(name, best) ? other : best,
  )
  const hint =
    likenessOf(name, meant) >= 3 ? `Did you mean ${meant}?` : `Try: plant-store-server ${list}`
  return `${name}: there is no such ${kind}. ${hint}`
}

/** A problem for each variable that looks like a setting and is none. */
export function describeUnknownVariables(environment: Environment): string[] {
  const files = [...SECRETS].map((name) => `${environmentNameOf(name)}_FILE`)
  const known = [...settingNames.map(environmentNameOf), ...files]
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !FOREIGN.test(name) && !known.includes(name))
    .map((name) => describeUnknown('setting', name, known, 'serve --help'))
}

/** A problem for each flag that is no setting, and for the first word that is no command. */
export function describeUnknownArguments(
  unknown: readonly string[],
  commands: readonly string[],
): string[] {
  const isFlag = (argument = '') => argument.startsWith('-')
  const flags = settingNames.map(flagOf)
  const problems = unknown
    .filter(isFlag)
    .map((flag) => describeUnknown('setting', flag.split('=')[0] ?? flag, flags, 'serve --help'))
  // A word behind a flag may be its value.
  const isWord = (argument: string, index: number) =>
    !isFlag(argument) && !/^-[^=]*$/.test(unknown[index - 1] ?? '')
  const word = unknown.find(isWord)
  return word === undefined
    ? problems
    : [...problems, describeUnknown('command', word, commands, '--help')]
}
