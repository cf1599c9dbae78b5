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

/** Values on the bounds, between them and beyond. */
const values = fc.array(
  fc.oneof(fc.constantFrom(...BOUNDS, 0), fc.double({ min: 0, max: 5, noNaN: true })),
)

test('a distribution is shown as the histogram of the library would be', async () => {
  await fc.assert(
    fc.asyncProperty(values, async (observed) => {
      const [theirs, ours] = [new Registry(), new Registry()]
      const histogram = new Histogram({ ...about, buckets: BOUNDS, registers: [theirs] })
      const observe = createDistribution(BOUNDS, { ...about, registers: [ours] })
      for (const value of observed) {
        histogram.observe(value)
        observe(value)
      }
      expect(await ours.metrics()).toBe(await theirs.metrics())
    }),
  )
})

test('distributions with a label are too', async () => {
  const [theirs, ours] = [new Registry(), new Registry()]
  const labelNames = ['status']
  const histogram = new Histogram({ ...about, labelNames, buckets: BOUNDS, registers: [theirs] })
  const distributions = [200, 503].map((status) => new Distribution(BOUNDS, { status }))
  new Tallies({ ...about, registers: [ours] }, () => distributions)
  for (const [index, status] of [200, 503].entries()) {
    for (const value of [0.1, 1, 7 + index]) {
      histogram.observe({ status }, value)
      distributions[index]?.observe(value)
    }
  }
  expect(await ours.metrics()).toBe(await theirs.metrics())
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
