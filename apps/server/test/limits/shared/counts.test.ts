import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { limitFailedCredentials } from '../../../src/http/limits/failed-credentials.ts'
import {
  type CountedLimits,
  createProcessCounts,
  forgetLoop,
  joinCounts,
} from '../../../src/http/limits/process-counts.ts'
import { createRate } from '../../../src/http/limits/rate.ts'
import type { AddressPlace } from '../../../src/http/limits/shared/address-counts.ts'

const LIMITS: CountedLimits = {
  connectionLimit: 10_000,
  requestLimit: 4_096,
  addressLimit: 1_024,
  trustedProxies: ['127.0.0.1'],
  rateLimit: 1,
  failedCredentialLimit: 60,
}

/** The counts of a process, as each of its loops sees them. */
function joinLoops(loops: number, limits: Partial<CountedLimits> = {}) {
  const counts = createProcessCounts(loops, { ...LIMITS, ...limits })
  return {
    counts,
    each: Array.from({ length: loops }, (_, loop) => joinCounts({ counts, loop })),
  }
}

describe('the counts of several loops', () => {
  test('can be posted to a thread, and be joined there', () => {
    const { counts } = joinLoops(2)
    const posted = joinCounts({ counts: structuredClone(counts), loop: 1 })
    posted.requests.add()
    expect(joinCounts({ counts, loop: 0 }).requests.total).toBe(1)
  })

  test('bound what they have together, each in its turn', () => {
    const [one, other] = joinLoops(2).each
    const taken = [one, other, one, other].map((loop) => loop?.requests.take(3))
    expect(taken).toEqual([true, true, true, false])
    one?.requests.leave()
    expect(other?.requests.take(3)).toBe(true)
    expect(other?.requests.others).toBe(1)
  })

  test('of a dead loop are forgotten, and those of the others stay', () => {
    const { counts, each } = joinLoops(2)
    const [one, other] = each
    expect([one, one, other, other].map((loop) => loop?.queuedPlants.take(3))).toEqual([
      true,
      true,
      true,
      false,
    ])
    forgetLoop(counts, 0)
    expect([1, 2, 3].map(() => other?.queuedPlants.take(3))).toEqual([true, true, false])
    other?.queuedPlants.leave(2)
    expect(other?.queuedPlants.total).toBe(1)
  })
})

/** Runs `meanwhile` when another read of shared memory by `work` is done; gives whether there was one. */
function interrupt(work: () => void, read: number, meanwhile: () => void): boolean {
  const load = Atomics.load as (numbers: Int32Array, index: number) => number
  let reads = 0
  const spy = vi.spyOn(Atomics, 'load').mockImplementation(((
    numbers: Int32Array,
    index: number,
  ) => {
    const value = load(numbers, index)
    if (reads++ === read) meanwhile()
    return value
  }) as typeof Atomics.load)
  try {
    work()
  } finally {
    spy.mockRestore()
  }
  return reads > read
}

test.each(['requests', 'addresses'])(
  'the last place for %s is granted once, whenever another loop takes it',
  (what) => {
    let wasRead = true
    for (let read = 0; wasRead; read++) {
      const [one, other] = joinLoops(2).each
      const granted: unknown[] = []
      const take = (loop = one) => {
        const taken =
          what === 'requests' ? loop?.requests.take(1) : loop?.addressConnections.add('::1', 1)
        if (taken) granted.push(taken)
      }
      wasRead = interrupt(take, read, () => take(other))
      expect(granted.length).toBeLessThanOrEqual(1)
    }
  },
)

describe('the things of an address', () => {
  type Step = readonly [loop: number, address: number, isEnd: boolean]
  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.tuple(fc.nat({ max: 2 }), fc.nat({ max: 20 }), fc.boolean()),
    { maxLength: 300 },
  )

  test('are never more than there may be, are taken while there are fewer, and leave nothing', () => {
    const most = 4
    fc.assert(
      fc.property(steps, fc.nat({ max: 2 }), (taken, dead) => {
        const { counts, each } = joinLoops(3)
        const places: { loop: number; address: number; place: AddressPlace }[] = []
        const presentOf = (address: number) => places.filter((one) => one.address === address)
        for (const [loop, address, isEnd] of taken) {
          const index = places.findIndex((one) => one.loop === loop && one.address === address)
          if (isEnd && index >= 0) {
            for (const { place } of places.splice(index, 1)) {
              each[loop]?.addressConnections.remove(place)
            }
          } else {
            const place = each[loop]?.addressConnections.add(`2001:db8::${address}`, most)
            // With so few in 32,768 counters a row, no two of twenty addresses meet in all four.
            expect(place !== undefined).toBe(presentOf(address).length < most)
            if (place !== undefined) places.push({ loop, address, place })
          }
        }
        forgetLoop(counts, dead)
        for (const { loop, place } of places) {
          if (loop !== dead) each[loop]?.addressConnections.remove(place)
        }
        const left = new Int32Array(counts.perAddress.addressConnections)
        expect(left.every((count) => count === 0)).toBe(true)
      }),
      { numRuns: 50 },
    )
  })

  test('are counted too high as rarely as promised, where all there may be are there', () => {
    const [loop] = joinLoops(1).each
    for (let address = 0; address < 10_000; address++) {
      loop?.addressConnections.add(`198.51.${address >> 8}.${address & 255}`, 1_024)
    }
    /** Of 10,000 addresses that have nothing, those that may not have one of so many. */
    const refused = (most: number) => {
      let count = 0
      for (let address = 0; address < 10_000; address++) {
        const place = loop?.addressConnections.add(`203.0.${address >> 8}.${address & 255}`, most)
        if (place === undefined) count++
        else loop?.addressConnections.remove(place)
      }
      return count
    }
    // A third of the counters is in use: one in a hundred meets others in all four rows.
    expect(refused(1)).toBeLessThan(0.0625 * 10_000)
    expect(refused(10)).toBe(0)
  })
})

describe('rates', () => {
  test('are those of the process, whichever loop spends, also after one was forgotten', () => {
    const { counts, each } = joinLoops(2)
    const limit = { unitNs: 1e9, burst: 4 }
    const [one, other] = each.map(({ tokenRates }) => createRate(limit, tokenRates))
    const now = performance.now()
    const left = [one, other, one].map((rate) => rate?.spend('a token', now).remaining)
    expect(left).toEqual([4, 3, 2])
    forgetLoop(counts, 0)
    expect(other?.look('a token', now).remaining).toBe(1)
  })

  test('of failed credentials are too: a caller that failed on one loop is refused on all', () => {
    const acted: unknown[] = []
    const [one, other] = joinLoops(2).each.map((counts) =>
      limitFailedCredentials({
        perMinute: 2,
        callerOf: () => '192.0.2.1',
        refusals: { count: (reason) => void acted.push(reason) },
        counts,
      }),
    )
    const request = {} as Parameters<NonNullable<typeof one>['add']>[0]
    one?.add(request)
    expect(one?.refusalOf(request)).toBeUndefined()
    other?.add(request)
    expect(one?.refusalOf(request)).toMatchObject({ who: '192.0.2.1' })
    expect(other?.refusalOf(request)).toMatchObject({ who: '192.0.2.1' })
    expect(() => one?.add(request)).toThrow(/no valid token/)
    expect(acted).toEqual(['failed_credentials'])
  })

  test('are kept for as many tokens as promised, one in a thousand forgotten at most', () => {
    const [loop] = joinLoops(1).each
    const share = loop?.tokenRates
    if (share === undefined) throw new Error('no loop')
    const rate = createRate({ unitNs: 1e12, burst: 1 }, share)
    const now = performance.now()
    for (let key = 0; key < 100_000; key++) rate.spend(`token ${key}`, now)
    let forgotten = 0
    for (let key = 0; key < 100_000; key++) {
      if (rate.look(`token ${key}`, now).waitMs === 0) forgotten++
    }
    expect(forgotten).toBeLessThan(100)
  })
})
