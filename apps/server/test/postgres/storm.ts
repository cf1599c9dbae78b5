import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { History, type Plant } from './history.ts'
import { readRows, type Served, waitForReadiness } from './served-database.ts'

const CALLERS = 16

/** Callers wait no longer than this, whatever happens to the database. */
export const LONGEST_ANSWER_MS = 10_000

/** Remembered for repeats and for rivals; older ones have been tried enough. */
const REMEMBERED = 64

/** Mostly new plants; every eighth request repeats an earlier plant or wants its id for another. */
function createPlants(): () => Plant {
  const earlier: Plant[] = []
  return () => {
    const dice = randomInt(16)
    const old = earlier[randomInt(REMEMBERED)]
    if (dice === 0 && old !== undefined) return old
    if (dice === 1 && old !== undefined) return { ...old, name: `rival ${randomUUID()}` }
    const id = randomBytes(8).readBigInt64BE()
    const plant = { id, name: `plant ${id}`, ...(id % 2n === 0n && { tag: randomUUID() }) }
    earlier[randomInt(REMEMBERED)] = plant
    return plant
  }
}

/** Lets callers send plants to servers, through outages and refusals, until the test has done its worst. */
export function startStorm(...servers: (Pick<Served, 'client'> & Partial<Served>)[]) {
  const history = new History()
  const next = createPlants()
  let isStopped = false

  async function call({ client }: Pick<Served, 'client'>): Promise<void> {
    while (!isStopped) {
      const reply = await history.send(client, next())
      // Without a pause an outage would be a loop of refusals that starves the database.
      if (reply !== 'stored' && reply !== 'taken') await sleep(10)
    }
  }

  const callers = Array.from({ length: CALLERS / servers.length }, () => servers.map(call)).flat()
  /** Resolves when this many more plants have been answered 200. */
  const acknowledges = async (plants: number) => {
    const goal = history.stored + plants
    while (history.stored < goal) await sleep(10)
  }
  return {
    history,
    acknowledges,
    /** Ends the storm, and fails unless each server is ready, and every response was true and in time. */
    async endAndJudge(databaseUrl: string): Promise<void> {
      await acknowledges(200)
      isStopped = true
      await Promise.all(callers)
      for (const { operationsUrl } of servers) {
        if (operationsUrl) await waitForReadiness({ operationsUrl }, true)
      }
      const verdict = history.judge(await readRows(databaseUrl))
      expect(verdict).toEqual({ lost: [], altered: [], doubled: [], lies: [] })
      expect(history.slowestMs).toBeLessThan(LONGEST_ANSWER_MS)
    },
  }
}
