import { Counter, Histogram, Registry } from '@prometheus-io/client'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  createDistribution,
  createTally,
  Distribution,
  Tallies,
} from '../../src/telemetry/tallies.ts'

const BOUNDS = [0.5, 1, 2.5]
const about = { name: 'plants_seconds', help: 'How long plants take.' }

/** Values on the bounds, between them and beyond, each for a status. */
const values = fc.array(
  fc.tuple(
    fc.constantFrom('200', '503'),
    fc.oneof(fc.constantFrom(...BOUNDS, 0), fc.double({ min: 0, max: 5, noNaN: true })),
  ),
)

test('distributions, with a label or without, are shown as the histogram of the library would be', async () => {
  await fc.assert(
    fc.asyncProperty(values, async (observed) => {
      const [theirs, ours] = [new Registry(), new Registry()]
      const all = new Histogram({ ...about, buckets: BOUNDS, registers: [theirs] })
      const observe = createDistribution(BOUNDS, { ...about, registers: [ours] })
      const more = { ...about, name: 'by_status', labelNames: ['status'] }
      const byStatus = new Histogram({ ...more, buckets: BOUNDS, registers: [theirs] })
      const distributions = new Map<string, Distribution>()
      new Tallies({ ...more, registers: [ours] }, () => [...distributions.values()])
      for (const [status, value] of observed) {
        all.observe(value)
        observe(value)
        byStatus.observe({ status }, value)
        const distribution = distributions.get(status) ?? new Distribution(BOUNDS, { status })
        distributions.set(status, distribution)
        distribution.observe(value)
      }
      expect(await ours.metrics()).toBe(await theirs.metrics())
    }),
  )
})

test('a tally is shown as the counter of the library would be, with each value from the start', async () => {
  const [theirs, ours] = [new Registry(), new Registry()]
  const counter = new Counter({ ...about, labelNames: ['result'], registers: [theirs] })
  const results = ['hit', 'miss'] as const
  const count = createTally('result', results, { ...about, registers: [ours] })
  for (const result of results) counter.inc({ result }, 0)
  expect(await ours.metrics()).toBe(await theirs.metrics())
  for (const result of ['hit', 'hit', 'miss'] as const) {
    counter.inc({ result })
    count(result)
  }
  expect(await ours.metrics()).toBe(await theirs.metrics())
})
