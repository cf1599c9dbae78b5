import type { NewPlantInput } from '@plant-store/client'
import type { Caller, History } from './history.ts'

/** Callers that go on whatever they are answered. */
export interface Storm {
  /** Resolves when this many more plants have been answered 200. */
  acknowledges(plants: number): Promise<void>
  /** Ends the callers and resolves once each has its last reply. */
  stop(): Promise<void>
}

interface StormOptions {
  readonly history: History
  /** Asked before each request, since a server that was started again has another address. */
  readonly clients: () => readonly Caller[]
  readonly callers: number
  readonly seed: number
}

type Random = () => number

/** A small generator of uint32 that a seed repeats (mulberry32). */
export function createRandom(seed: number): Random {
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
function createPlants(random: Random): () => Sent {
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
export function startStorm({ history, clients, callers, seed }: StormOptions): Storm {
  const next = createPlants(createRandom(seed))
  const waiting = new Set<{ readonly at: number; readonly resolve: () => void }>()
  let isStopped = false

  async function call(caller: number): Promise<void> {
    while (!isStopped) {
      const all = clients()
      const client = all[caller % all.length]
      const reply = client === undefined ? 'not_stored' : await history.send(client, next())
      // Without a pause an outage would be a loop of refusals that starves the database.
      if (!['stored', 'taken'].includes(reply))
        await new Promise((resolve) => setTimeout(resolve, 10))
      for (const one of waiting) {
        if (history.acknowledged < one.at) continue
        waiting.delete(one)
        one.resolve()
      }
    }
  }

  const ended = Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)))
  return {
    acknowledges: (plants) =>
      new Promise((resolve) => waiting.add({ at: history.acknowledged + plants, resolve })),
    async stop() {
      isStopped = true
      await ended
    },
  }
}
