import type { NewPlantInput } from '@plant-store/client'
import type { Caller, History } from './history.ts'

interface StormOptions {
  readonly history: History
  /** Asked before each request, since a server that was started again has another address. */
  readonly clients: () => readonly Caller[]
  readonly callers: number
  readonly seed: number
}

/** A small generator of uint32 that a seed repeats (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
}

type Sent = NewPlantInput & { readonly id: bigint }

/** Remembered for repeats and for rivals; older ones have been tried enough. */
const REMEMBERED = 64

/** Mostly new plants; every eighth request repeats an earlier plant or wants its id for another. */
function createPlants(random: () => number): () => Sent {
  const earlier: Sent[] = []
  return () => {
    const dice = random() % 16
    const old = earlier[random() % REMEMBERED]
    if (dice === 0 && old !== undefined) return old
    if (dice === 1 && old !== undefined) return { ...old, name: `rival ${random()}` }
    const id = BigInt.asIntN(64, (BigInt(random()) << 32n) | BigInt(random()))
    const name = `plant ${id}`
    const plant = random() % 2 === 0 ? { id, name } : { id, name, tag: `tag ${random()}` }
    earlier[random() % REMEMBERED] = plant
    return plant
  }
}

/** Lets callers send plants from now on, through outages and refusals, until stopped. */
export function startStorm({ history, clients, callers, seed }: StormOptions) {
  const next = createPlants(createRandom(seed))
  const pause = () => new Promise((resolve) => setTimeout(resolve, 10))
  let isStopped = false

  async function call(caller: number): Promise<void> {
    while (!isStopped) {
      const all = clients()
      const client = all[caller % all.length]
      const reply = client === undefined ? 'not_stored' : await history.send(client, next())
      // Without a pause an outage would be a loop of refusals that starves the database.
      if (!['stored', 'taken'].includes(reply)) await pause()
    }
  }

  const ended = Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)))
  return {
    /** Resolves when this many more plants have been answered 200. */
    async acknowledges(plants: number): Promise<void> {
      const goal = history.stored + plants
      while (history.stored < goal) await pause()
    },
    /** Ends the callers and resolves once each has its last response. */
    async stop(): Promise<void> {
      isStopped = true
      await ended
    },
  }
}
