import { setTimeout as sleep } from 'node:timers/promises'
import { sendPlants, type Way } from './send-plants.ts'

/** What sending many plants takes of memory; all in MB of 1,000,000 bytes. */
export interface Measured {
  readonly way: Way
  readonly rows: number
  readonly seconds: number
  /** The processor's, user and system. */
  readonly cpuSeconds: number
  /** The process in all, at the highest. */
  readonly rss: number
  /** Live objects after a tenth of the plants, and after all. */
  readonly liveEarly: number
  readonly liveLate: number
}

const { gc } = globalThis as { readonly gc?: () => void }

function toMegabytes(bytes: number): number {
  return Math.round(bytes / 100_000) / 10
}

/** What is finalized in one collection is free after the next. */
async function measureLive(): Promise<number> {
  for (let times = 0; times < 5; times++) {
    gc?.()
    await sleep(10)
  }
  return toMegabytes(process.memoryUsage().heapUsed)
}

async function measure(way: Way, url: string, rows: number): Promise<Measured> {
  const begin = performance.now()
  let count = 0
  let rss = 0
  await sendPlants(way, url, Math.floor(rows / 10), () => {})
  const liveEarly = await measureLive()
  await sendPlants(way, url, rows - Math.floor(rows / 10), () => {
    if (++count % 500 === 0) rss = Math.max(rss, process.memoryUsage.rss())
  })
  const { user, system } = process.cpuUsage()
  return {
    way,
    rows,
    seconds: Math.round((performance.now() - begin) / 1_000),
    cpuSeconds: Math.round((user + system) / 1_000_000),
    rss: toMegabytes(rss),
    liveEarly,
    liveLate: await measureLive(),
  }
}

const [way, url = '', rows] = process.argv.slice(2)
process.send?.(await measure(way as Way, url, Number(rows)), () => process.disconnect())
