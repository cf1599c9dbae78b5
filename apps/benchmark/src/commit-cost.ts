import { openStore } from '@plant-store/server/engines.js'
import { makePlant, makeSmallPlant } from './commit-plants.ts'
import { type Contestant, isOurs, plotted } from './contestants.ts'
import { type CommitCost, TOGETHER } from './measurement.ts'
import { openPeerStore } from './peers/stores.ts'
import { medianOf } from './report/statistics.ts'

// A program: measures the store of one contestant by itself, and sends CommitCost[].

const WARM_UP_TOGETHER = 64

interface MeasuredStore {
  insert(): unknown
  /** How many it has made so far; undefined for one commit for each plant. */
  readonly commits?: () => number
  close(): unknown
}

function openPeer(databaseUrl: string): MeasuredStore {
  const store = openPeerStore(databaseUrl)
  return { insert: () => store.insert(makeSmallPlant()), close: store.close }
}

async function openOurs(databaseUrl: string): Promise<MeasuredStore> {
  let commits = 0
  const observer = {
    itemWaited() {},
    commitEnded: () => void commits++,
    commitStatementEnded() {},
  }
  const queueLimit = Math.max(...TOGETHER)
  const store = await openStore({ databaseUrl, queueLimit, allowDataLoss: false, observer })
  return {
    insert: () => store.plants.create(makePlant()),
    commits: () => commits,
    close: store.close,
  }
}

async function measure(store: MeasuredStore, together: number, ms: number): Promise<CommitCost> {
  const commitsBefore = store.commits?.()
  const times: number[] = []
  const endsAt = performance.now() + ms
  do {
    const startedAt = performance.now()
    await Promise.all(Array.from({ length: together }, store.insert))
    times.push(performance.now() - startedAt)
  } while (performance.now() < endsAt)
  const commits = (store.commits?.() ?? Number.NaN) - (commitsBefore ?? 0)
  const plantsPerCommit = store.commits ? (times.length * together) / commits : 1
  return { together, usPerPlant: (medianOf(times) * 1_000) / together, plantsPerCommit }
}

process.channel?.ref()
process.once('SIGTERM', () => process.exit())
const [name, databaseUrl = '', seconds] = process.argv.slice(2)
const contestant = plotted.find((one) => one.name === name) as Contestant
const store = await (isOurs(contestant) ? openOurs(databaseUrl) : openPeer(databaseUrl))
const ms = Number(seconds) * 1_000
await measure(store, WARM_UP_TOGETHER, 2 * ms)
const costs: CommitCost[] = []
for (const together of TOGETHER) costs.push(await measure(store, together, ms))
await store.close()
process.send?.(costs)
