import { DatabaseSync } from 'node:sqlite'
import { createPlantStoreClient, type PlantStoreFetch } from '@plant-store/client'
import { undiciFetch } from '@plant-store/client/undici'
import { createIds } from '../load/requests.ts'
import type { SendOrder, SendResult } from '../measurement.ts'
import { createTimes } from '../usage.ts'

// A program: stores plants in the way that its argument names, and answers each SendOrder with a
// SendResult.

const TOKEN = 'plant_benchmark'

/** No server that keeps plants in SQLite does more than this: so many plants a commit. */
function openLoop({ to, atOnce }: SendOrder) {
  const database = new DatabaseSync(to)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  const table = 'plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT'
  database.exec(`CREATE TABLE IF NOT EXISTS ${table}`)
  const insert = database.prepare('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?)')
  const nextId = createIds()
  return () => {
    database.exec('BEGIN IMMEDIATE')
    for (let count = 0; count < atOnce; count++) insert.run(BigInt(nextId()), 'Fern', 'indoor')
    database.exec('COMMIT')
  }
}

function openFetch({ to }: SendOrder) {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  return async (id: number) => {
    const body = JSON.stringify({ id, name: 'Fern', tag: 'indoor' })
    const response = await fetch(`${to}/plants`, { method: 'POST', headers, body })
    const { name } = (await response.json()) as { name?: unknown }
    if (response.status !== 200 || name !== 'Fern') throw new Error('not stored')
  }
}

function openClient({ to }: SendOrder, fetch: PlantStoreFetch = globalThis.fetch) {
  const client = createPlantStoreClient({ baseUrl: to, token: TOKEN, fetch })
  return (id: number) => client.createPlant({ id, name: 'Fern', tag: 'indoor' })
}

const ways = {
  loop: openLoop,
  'bare fetch': openFetch,
  'client.createPlant': openClient,
  'client.createPlant over undici': (order: SendOrder) => openClient(order, undiciFetch),
}
const way = process.argv[2] as keyof typeof ways

async function measure(order: SendOrder): Promise<SendResult> {
  const store = ways[way](order)
  const [calls, plantsOfCall] = way === 'loop' ? [1, order.atOnce] : [order.atOnce, 1]
  const times = createTimes()
  const cpuAtStart = process.cpuUsage()
  const startedAt = performance.now()
  const endsAt = startedAt + order.seconds * 1_000
  let id = 0
  const storeOneByOne = async () => {
    for (let before = startedAt; before < endsAt; ) {
      await store(++id)
      const now = performance.now()
      times.add(now - before)
      before = now
    }
  }
  await Promise.all(Array.from({ length: calls }, storeOneByOne))
  const { user, system } = process.cpuUsage(cpuAtStart)
  const { count, ...latencies } = times.summary()
  const plants = count * plantsOfCall
  const perSecond = (plants / (performance.now() - startedAt)) * 1_000
  return { plants, perSecond, ...latencies, cpuUs: (user + system) / plants }
}

process.on('message', async (order: SendOrder) => void process.send?.(await measure(order)))
process.once('SIGTERM', () => process.exit())
