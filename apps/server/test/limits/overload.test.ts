import { describe, expect, test } from 'vitest'
import { WaitingPlants } from '../../src/http/overload.ts'
import type { CreateOutcome } from '../../src/store/store.ts'

const plant = { id: 1n, name: 'Fern' }

/** A store that ends its oldest creates on demand, with a clock that is set by hand. */
function createBench({ turnMs = 1, requestLimit = 10_000 } = {}) {
  let now = 0
  const open: ((outcome: CreateOutcome) => void)[] = []
  const plants = {
    create: () => new Promise<CreateOutcome>((resolve) => open.push(resolve)),
  }
  const clock = { now: () => now, averageTurnMs: () => turnMs }
  const watched = new WaitingPlants(plants, requestLimit, clock)

  function offer(count: number): number {
    let taken = 0
    for (; taken < count && !watched.isOverloaded(); taken++) void watched.create(plant)
    return taken
  }

  return {
    offer,
    /** Lets time pass, 10 ms at a time: in each, some plants are offered and some creates end. */
    async pass(ms: number, { offered, ended }: { offered: number; ended: number }) {
      let taken = 0
      for (const end = now + ms; now < end; ) {
        now += 10
        for (const end of open.splice(0, ended)) end('created')
        // The end of the turn, after which the promises are resolved too.
        await new Promise((resolve) => setImmediate(resolve))
        taken += offer(offered)
      }
      return taken
    },
    waiting: () => open.length,
  }
}

describe('plants that wait', () => {
  test('are all taken while their creates end within the limit', async () => {
    const { pass } = createBench()
    expect(await pass(5_000, { offered: 100, ended: 100 })).toBe(50_000)
  })

  test('are never more than there may be requests', () => {
    const { offer } = createBench({ requestLimit: 1_000 })
    expect(offer(5_000)).toBe(1_000)
  })

  test('are so few under overload that each create ends within about the limit', async () => {
    const { pass, waiting } = createBench()
    await pass(2_000, { offered: 400, ended: 100 })
    // 100 creates end in each 10 ms, so the 1,000 that wait end within 100 ms.
    for (let span = 0; span < 20; span++) {
      await pass(100, { offered: 400, ended: 100 })
      expect(waiting()).toBeLessThan(1_700)
    }
    expect(waiting()).toBeGreaterThan(500)
  })

  test('are as many as before within a second after the overload', async () => {
    const { pass } = createBench()
    await pass(5_000, { offered: 400, ended: 100 })
    await pass(1_000, { offered: 50, ended: 1_000 })
    expect(await pass(10, { offered: 4_000, ended: 0 })).toBe(4_000)
  })

  test('are fewer where the event loop takes long to read them', async () => {
    const quick = createBench()
    const slow = createBench({ turnMs: 60 })
    for (const { pass } of [quick, slow]) await pass(3_000, { offered: 400, ended: 100 })
    expect(slow.waiting()).toBeLessThan(quick.waiting())
  })

  test('may always be 256, however slow the store is', async () => {
    const { pass } = createBench({ turnMs: 1_000 })
    await pass(3_000, { offered: 400, ended: 1 })
    expect(await pass(10, { offered: 400, ended: 10_000 })).toBe(256)
  })

  test('are not refused because a commit stalled once', async () => {
    const { pass } = createBench()
    await pass(1_000, { offered: 50, ended: 50 })
    expect(await pass(600, { offered: 50, ended: 0 })).toBe(3_000)
    expect(await pass(100, { offered: 1_000, ended: 4_000 })).toBe(10_000)
  })

  /** Plants whose outcome is given, with a clock that is set by hand. */
  function watchPlants(outcome: Promise<CreateOutcome>) {
    const clock = { time: 0, now: () => clock.time, averageTurnMs: () => 1 }
    return { clock, watched: new WaitingPlants({ create: () => outcome }, 10_000, clock) }
  }

  test.each<[claim: string, outcome: Promise<CreateOutcome>]>([
    ['that wait on', new Promise(() => {})],
    ['that are stored within the turn', Promise.resolve('created')],
  ])('are refused for the rest of a turn that took too long for 256 %s', async (_, outcome) => {
    const { clock, watched } = watchPlants(outcome)
    for (let count = 0; count < 256; count++) {
      expect(watched.isOverloaded()).toBe(false)
      clock.time = 200
      expect(watched.isOverloaded()).toBe(false)
      void watched.create(plant)
      clock.time = 0
      // Its outcome is noted, without a turn of the event loop.
      await new Promise((resolve) => process.nextTick(resolve))
    }
    clock.time = 100
    expect(watched.isOverloaded()).toBe(false)
    clock.time = 101
    expect(watched.isOverloaded()).toBe(true)
    await new Promise((resolve) => setImmediate(resolve))
    expect(watched.isOverloaded()).toBe(false)
  })

  test('are refused for the rest of a turn that took too long for 256 that waited before', () => {
    const { clock, watched } = watchPlants(new Promise(() => {}))
    for (let count = 0; count < 256; count++) void watched.create(plant)
    expect(watched.isOverloaded()).toBe(false)
    clock.time = 101
    expect(watched.isOverloaded()).toBe(true)
  })
})
