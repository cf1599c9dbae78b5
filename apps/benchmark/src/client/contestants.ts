/** A way to store plants from a program, measured at a server that does nothing. */
export interface ClientContestant {
  readonly name: string
  /** What people read in tables. */
  readonly title: string
  /** A program that answers each ClientOrder with a ClientResult. */
  readonly program: string
  readonly arguments: readonly string[]
}

const sender = (name: string, title: string): ClientContestant => ({
  name,
  title,
  program: './client/sender.ts',
  arguments: [name],
})

/** How many plants are on their way at once. */
export const CONCURRENCIES = [16, 64] as const

/** In the order of a round. */
export const clientContestants: readonly ClientContestant[] = [
  sender('fetch', 'bare fetch'),
  sender('createPlant', 'client.createPlant'),
  sender('createPlants', 'createPlants'),
]

/** Which is divided by which, and at least what the ratio of their rates shall be. */
export const clientRatios: readonly (readonly [string, string, number?])[] = [
  ['createPlant', 'fetch', 0.8],
  ['createPlants', 'fetch'],
]
