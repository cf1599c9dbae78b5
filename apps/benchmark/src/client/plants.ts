const SHARED = { name: 'Fern', tag: 'indoor' } as const

/** The body of the reply to each plant: all have the same name and tag. */
export const REPLY = JSON.stringify(SHARED)

export interface BenchmarkPlant {
  readonly id: number
  readonly name: string
  readonly tag: string
}

/** Plants with ids that count up, until a time by performance.now(). */
export function* makePlants(endsAt: number): Generator<BenchmarkPlant, undefined> {
  for (let id = 1; performance.now() < endsAt; id++) yield { id, ...SHARED }
}
