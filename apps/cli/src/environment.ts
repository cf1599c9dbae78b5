/** What the command line takes from the environment. */
const names = ['PLANT_STORE_BASE_URL', 'PLANT_STORE_TOKEN', 'TERM'] as const

export type Environment = { readonly [Name in (typeof names)[number]]?: string | undefined }

/** The only reader of the environment; a variable that is empty counts as not set. */
export function readEnvironment(): Environment {
  return Object.fromEntries(names.map((name) => [name, process.env[name] || undefined]))
}
