import { type Environment, environmentNameOf, PREFIX, SECRETS, settingNames } from './settings.ts'

/** Variables of this project that are no settings of the server. */
const FOREIGN = /^PLANT_STORE_(?:BASE_URL|TOKEN|TOKEN_FILE|TEST_\w+)$/

/** The known name that has the longest beginning of another one, three letters or more. */
export function findMeant(name: string, known: readonly string[]): string | undefined {
  for (let length = name.length; length > 2; length--) {
    const meant = known.find((other) => other.startsWith(name.slice(0, length)))
    if (meant !== undefined) return meant
  }
  return undefined
}

/** A problem for each variable that looks like a setting and is none. */
export function describeUnknownVariables(environment: Environment): string[] {
  const files = [...SECRETS].map((name) => `${environmentNameOf(name)}_FILE`)
  const known = [...settingNames.map(environmentNameOf), ...files]
  const owns = known.map((name) => name.slice(PREFIX.length))
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !FOREIGN.test(name) && !known.includes(name))
    .map((name) => {
      const meant = findMeant(name.slice(PREFIX.length), owns)
      const hint = meant
        ? `Did you mean ${PREFIX}${meant}?`
        : 'Try: plant-store-server serve --help'
      return `${name}: there is no such setting. ${hint}`
    })
}
