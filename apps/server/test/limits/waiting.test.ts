import { describe, expect, test } from 'vitest'
import { WaitingPlants } from '../../src/limits/waiting-plants.ts'
import type { CreateOutcome } from '../../src/store/store.ts'

const plant = { id: 1n, name: 'Fern' }

/** Without a turn of the event loop. */
function outcomesAreResolved(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve))
}

/** A store that tells the oldest outcomes when it is asked to, by a clock that is set by hand. */
function createBench({ turnMs = 1, requestLimit = 10_000, waitLimitMs = 100 } = {}) {
  let now = 0
  const untold: ((outcome: CreateOutcome) => void)[] = []
  const plants = {
    create: () => new Promise<CreateOutcome>((resolve) => untold.push(resolve)),
  }
  const clock = { now: () => now, averageTurnMs: () => turnMs }
  const watched = new WaitingPlants(plants, { requestLimit, waitLimitMs }, clock)

  function offer(count: number): number {
    let taken = 0
    for (; taken < count && !watched.isOverloaded(); taken++) void watched.create(plant)
    return taken
  }

  return {
    watched,
    offer,
    /** Lets time pass by 10 ms at a time, in each of which so many are offered and told. */
    async pass(ms: number, { offered, told }: { offered: number; told: number }) {
      let taken = 0
      for (const end = now + ms; now < end; ) {
        now += 10
        for (const tell of untold.splice(0, told)) tell('created')
        // The end of the turn, after which the promises are settled too.
        await new Promise((resolve) => setImmediate(resolve))
        taken += offer(offered)
      }
      return taken
    },
    waiting: () => untold.length,
  }
}

describe('plants that wait', () => {
  test('are all taken while they are told within the limit', async () => {
    const { pass } = createBench()
    expect(await pass(5_000, { offered: 100, told: 100 })).toBe(50_000)
  })

  test('are never more than there may be requests', () => {
    const { offer } = createBench({ requestLimit: 1_000 })
    expect(offer(5_000)).toBe(1_000)
  })

  test('are so few under overload that each is told within about the limit', async () => {
    const { pass, waiting } = createBench()
    await pass(2_000, { offered: 400, told: 100 })
    // 100 each 10 ms are told: 1,000 that wait are told within 100 ms.
    for (let span = 0; span < 20; span++) {
      await pass(100, { offered: 400, told: 100 })
      expect(waiting()).toBeLessThan(1_700)
    }
    expect(waiting()).toBeGreaterThan(500)
  })

  test('are as many as before within a second after the overload', async () => {
    const { pass } = createBench()
    await pass(5_000, { offered: 400, told: 100 })
    await pass(1_000, { offered: 50, told: 1_000 })
    expect(await pass(10, { offered: 4_000, told: 0 })).toBe(4_000)
  })

  test('are fewer where the event loop takes long to read them', async () => {
    const quick = createBench()
    const slow = createBench({ turnMs: 60 })
    for (const { pass } of [quick, slow]) await pass(3_000, { offered: 400, told: 100 })
    expect(slow.waiting()).toBeLessThan(quick.waiting())
  })

  test('may always be 256, however slow the store is', async () => {
    const { pass } = createBench({ turnMs: 1_000 })
    await pass(3_000, { offered: 400, told: 1 })
    expect(await pass(10, { offered: 400, told: 10_000 })).toBe(256)
  })

  test('are not refused because a commit stalled once', async () => {
    const { pass } = createBench()
    await pass(1_000, { offered: 50, told: 50 })
    expect(await pass(600, { offered: 50, told: 0 })).toBe(3_000)
    expect(await pass(100, { offered: 1_000, told: 4_000 })).toBe(10_000)
  })

  test.each<[claim: string, outcome: Promise<CreateOutcome>]>([
    ['that wait on', new Promise(() => {})],
    ['that are stored within the turn', Promise.resolve('created')],
  ])('are refused for the rest of a turn that took too long for 256 %s', async (_, outcome) => {
    let now = 0
    const clock = { now: () => now, averageTurnMs: () => 1 }
    const plants = { create: () => outcome }
    const watched = new WaitingPlants(plants, { requestLimit: 10_000, waitLimitMs: 100 }, clock)
    for (let count = 0; count < 256; count++) {
      expect(watched.isOverloaded()).toBe(false)
      now = 200
      expect(watched.isOverloaded()).toBe(false)
      void watched.create(plant)
      now = 0
      await outcomesAreResolved()
    }
    now = 100
    expect(watched.isOverloaded()).toBe(false)
    now = 101
    expect(watched.isOverloaded()).toBe(true)
    await new Promise((resolve) => setImmediate(resolve))
    expect(watched.isOverloaded()).toBe(false)
  })
  test('are refused for the rest of a turn that took too long for 256 that waited before', async () => {
    let now = 0
    const clock = { now: () => now, averageTurnMs: () => 1 }
    const plants = { create: () => new Promise<CreateOutcome>(() => {}) }
    const watched = new WaitingPlants(plants, { requestLimit: 10_000, waitLimitMs: 100 }, clock)
    for (let count = 0; count < 256; count++) void watched.create(plant)
    expect(watched.isOverloaded()).toBe(false)
    now = 101
    expect(watched.isOverloaded()).toBe(true)
  })
})
