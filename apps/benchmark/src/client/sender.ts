import { createPlantStoreClient, createPlants } from '@plant-store/client'
import type { ClientOrder, ClientResult } from '../measurement.ts'
import { type BenchmarkPlant, makePlants } from './plants.ts'

// A program: stores plants in the way that its argument names, and answers each ClientOrder with a
// ClientResult.

const TOKEN = 'plant_benchmark'

/** Stores plants, so many at once; gives how many. @throws where one is not stored. */
type Way = (plants: Generator<BenchmarkPlant>, order: ClientOrder) => Promise<number>

/** Stores each plant by itself. */
async function storeEach(
  plants: Iterable<BenchmarkPlant>,
  { concurrency }: ClientOrder,
  store: (plant: BenchmarkPlant) => Promise<void>,
): Promise<number> {
  let stored = 0
  const storeOneByOne = async () => {
    for (const plant of plants) {
      await store(plant)
      stored++
    }
  }
  await Promise.all(Array.from({ length: concurrency }, storeOneByOne))
  return stored
}

const ways: Readonly<Record<string, Way>> = {
  fetch: (plants, order) =>
    storeEach(plants, order, async (plant) => {
      const response = await fetch(`${order.baseUrl}/plants`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify(plant),
      })
      const { name } = (await response.json()) as { name?: unknown }
      if (response.status !== 200 || name !== plant.name) throw new Error('not stored')
    }),
  createPlant(plants, order) {
    const client = createPlantStoreClient({ baseUrl: order.baseUrl, token: TOKEN })
    return storeEach(plants, order, async (plant) => void (await client.createPlant(plant)))
  },
  async createPlants(plants, { baseUrl, concurrency }) {
    const client = createPlantStoreClient({ baseUrl, token: TOKEN })
    let stored = 0
    for await (const result of createPlants(client, plants, { concurrency })) {
      if (!result.ok) throw result.error
      stored++
    }
    return stored
  },
}

async function measure(way: Way, order: ClientOrder): Promise<ClientResult> {
  const cpuAtStart = process.cpuUsage()
  const startedAt = performance.now()
  const creates = await way(makePlants(startedAt + order.seconds * 1_000), order)
  const seconds = (performance.now() - startedAt) / 1_000
  const { user, system } = process.cpuUsage(cpuAtStart)
  return { creates, seconds, cpuSeconds: (user + system) / 1e6 }
}

const way = ways[process.argv[2] ?? '']
if (way === undefined) throw new Error(`there is no way ${process.argv[2]}`)
process.channel?.ref()
process.on('message', async (order: ClientOrder) => {
  process.send?.(await measure(way, order))
})
process.once('SIGTERM', () => process.exit())
