import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import {
  createProcessCounts,
  forgetLoop,
  joinCounts,
  type ProcessCounts,
} from '../../../src/http/limits/process-counts.ts'
import { createRate } from '../../../src/http/limits/rate.ts'
import { RateBuckets } from '../../../src/http/limits/shared/rate-buckets.ts'
import { ADDRESSES, type Hammering, UNIT_NS } from './hammering.ts'

const THREADS = 4

/** With more loops than threads a look takes longer, and meets what others do meanwhile. */
const LOOPS = 64

function createCounts(): ProcessCounts {
  return createProcessCounts(LOOPS, {
    connectionLimit: 100,
    requestLimit: 100,
    addressLimit: 3,
    trustedProxies: [],
    rateLimit: 1,
    failedCredentialLimit: 1,
  })
}

type Work = Pick<Hammering, 'what' | 'times' | 'most'>

async function startThread(counts: ProcessCounts, loop: number, work: Work) {
  const witness = witnesses.get(counts) ?? new SharedArrayBuffer(4 * ADDRESSES)
  witnesses.set(counts, witness)
  const worker = new Worker(new URL('hammer.ts', import.meta.url), {
    workerData: { ...work, counts, loop, witness } satisfies Hammering,
  })
  const [said] = await once(worker, 'message')
  return { worker, said }
}

/** How many threads are there now is seen by all that share counts. */
const witnesses = new WeakMap<ProcessCounts, SharedArrayBuffer>()

/** What threads on the same counts were granted in all, and how many of them at the same time at most. */
async function hammer(counts: ProcessCounts, work: Work) {
  const workers = Array.from({ length: THREADS }, (_, loop) => startThread(counts, loop, work))
  const results = workers.map(async (started) => (await once((await started).worker, 'message'))[0])
  const several: readonly { granted: number; largest: number }[] = await Promise.all(results)
  return {
    granted: several.reduce((sum, { granted }) => sum + granted, 0),
    largest: Math.max(...several.map(({ largest }) => largest)),
  }
}

/** Whether nothing at all is counted, in any memory but that of rates. */
function isEmpty({ perLoop, perAddress }: ProcessCounts): boolean {
  const memories = [...Object.values(perLoop), ...Object.values(perAddress)]
  return memories.every((memory) => new Int32Array(memory).every((count) => count === 0))
}

describe('threads that hammer the same counts', () => {
  test.each(['requests', 'addresses'] as const)(
    'are never granted more %s at once than there may be, and leave nothing behind',
    async (what) => {
      const counts = createCounts()
      const { granted, largest } = await hammer(counts, { what, times: 50_000, most: 2 })
      expect(granted).toBeGreaterThan(1_000)
      expect(largest).toBeLessThanOrEqual(2)
      expect(isEmpty(counts)).toBe(true)
    },
  )

  test('spend of each rate what it has, and not one unit more or less', async () => {
    const work = { what: 'rates', times: 200_000, most: 30_000 } as const
    expect((await hammer(createCounts(), work)).granted).toBe(ADDRESSES * 30_000)
  })
})

test('threads agree on the time, by which rates grow back', async () => {
  const counts = createCounts()
  const before = performance.now()
  const { said } = await startThread(counts, 1, { what: 'rates', times: 0, most: 1 })
  expect(said).toBeGreaterThan(before)
  expect(said).toBeLessThan(performance.now())
})

describe('of a thread that was terminated', () => {
  test.each(['requests', 'addresses', 'rates'] as const)(
    'no %s are left, and those of the others stay',
    async (what) => {
      const counts = createCounts()
      const other = joinCounts({ counts, loop: 0 })
      other.requests.add()
      const place = other.addressConnections.add('192.0.2.1', 100) ?? new Int32Array()
      const rate = createRate({ unitNs: UNIT_NS, burst: 1e6 }, other.tokenRates)
      for (let life = 0; life < 5; life++) {
        const { worker } = await startThread(counts, 1, { what, times: Infinity, most: 1e6 })
        await sleep(5 + life)
        await worker.terminate()
        forgetLoop(counts, 1)
        expect(other.requests.total).toBe(1)
        for (let key = 0; key < ADDRESSES; key++) rate.spend(`key ${key}`, performance.now())
      }
      other.requests.leave()
      other.addressConnections.remove(place)
      expect(isEmpty(counts)).toBe(true)
    },
  )

  test('no rate is held any more', () => {
    const counts = createCounts()
    const { tokenRates } = joinCounts({ counts, loop: 0 })
    const dead = new RateBuckets(counts.rates.tokens, 1)
    const key = tokenRates.hash('a key')
    // What it was doing is over in the middle.
    expect(() =>
      dead.update(key, () => {
        throw new Error('out of memory')
      }),
    ).toThrow()
    const isFree = () => new Int32Array(counts.rates.tokens).every((number) => number === 0)
    expect(isFree()).toBe(false)
    forgetLoop(counts, 1)
    expect(isFree()).toBe(true)
  })
})
