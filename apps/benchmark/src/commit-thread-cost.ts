import { openStore } from '@plant-store/server/engines.js'
import { CommitPort } from '@plant-store/server/sqlite/commit/commit-port.js'
import { CommitThread } from '@plant-store/server/sqlite/commit/commit-thread.js'
import { knowFiles } from '@plant-store/server/sqlite/files/known-files.js'
import { makePlant, makeRisingPlant } from './commit-plants.ts'
import type { CommitThreadCost } from './measurement.ts'

// A program: keeps the thread that commits busy, without HTTP and event loops that serve, and sends
// a CommitThreadCost for each kind of ids.

const BATCH = 256

/** While the thread commits one batch, the next one waits. */
const PORTS = 2

const makers = { random: makePlant, rising: makeRisingPlant }

/** Gives how many plants were stored. @throws when one was not */
async function send(port: CommitPort, makeOne: typeof makePlant, endsAt: number): Promise<number> {
  let stored = 0
  while (performance.now() < endsAt) {
    const outcomes = await port.commit(Array.from({ length: BATCH }, makeOne))
    if (outcomes.some((outcome) => outcome !== 'created')) throw new Error('a plant was not stored')
    stored += outcomes.length
  }
  return stored
}

async function measure(
  ports: readonly CommitPort[],
  ids: keyof typeof makers,
  seconds: number,
): Promise<CommitThreadCost> {
  const startedAt = performance.now()
  const cpuAtStart = process.cpuUsage()
  const ownAtStart = process.threadCpuUsage()
  const endsAt = startedAt + seconds * 1_000
  const counts = await Promise.all(ports.map((port) => send(port, makers[ids], endsAt)))
  const elapsedMs = performance.now() - startedAt
  const all = process.cpuUsage(cpuAtStart)
  const own = process.threadCpuUsage(ownAtStart)
  const plants = counts.reduce((sum, count) => sum + count)
  const cpuUs = (all.user + all.system - own.user - own.system) / plants
  return { batch: BATCH, ids, plantsPerSecond: (plants / elapsedMs) * 1_000, cpuUs }
}

process.channel?.ref()
process.once('SIGTERM', () => process.exit())
const [databaseUrl = '', seconds] = process.argv.slice(2)
const path = databaseUrl.slice('sqlite:'.length)
const store = await openStore({ databaseUrl, queueLimit: BATCH, allowDataLoss: false })
const onFailure = (error: Error) => {
  throw error
}
const thread = new CommitThread({ path, files: knowFiles(path), onFailure })
const ports = Array.from({ length: PORTS }, () => new CommitPort(thread.share()))
await measure(ports, 'random', Number(seconds))
const costs: CommitThreadCost[] = []
for (const ids of ['random', 'rising'] as const) {
  costs.push(await measure(ports, ids, Number(seconds)))
}
for (const port of ports) port.close()
await thread.close()
await store.close()
process.send?.(costs)
