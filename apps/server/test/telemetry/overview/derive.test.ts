import { expect, test, vi } from 'vitest'
import { createMetrics } from '../../../src/telemetry/metrics/metrics.ts'
import { deriveSeries } from '../../../src/telemetry/overview/derive.ts'
import { History } from '../../../src/telemetry/overview/history.ts'
import { SAMPLE_MS, takeSample } from '../../../src/telemetry/overview/sampler.ts'

/** Real metrics, sampled at any time. */
function startMeasuring() {
  const metrics = createMetrics()
  const history = new History()
  const clock = vi.spyOn(Date, 'now')
  return {
    ...metrics,
    async sampleAt(time: number) {
      clock.mockReturnValueOnce(time)
      await takeSample(metrics, history)
    },
    valuesOf(name: string, as: string, since = 0, labels = {}) {
      const found = deriveSeries(history, since).series.find(
        (series) =>
          series.name === name &&
          series.as === as &&
          JSON.stringify(series.labels) === JSON.stringify(labels),
      )
      return found?.values
    },
    timesAfter: (since: number) => deriveSeries(history, since).times,
  }
}

test('a rate is the increase between two samples, by the time between them', async () => {
  const { requests, sampleAt, valuesOf } = startMeasuring()
  await sampleAt(1_000)
  for (let number = 0; number < 50; number++) requests.answered('created', 200, 1)
  await sampleAt(11_000)
  await sampleAt(21_000)
  for (let number = 0; number < 30; number++) requests.answered('created', 200, 1)
  await sampleAt(41_000)
  const values = (since: number) =>
    valuesOf('plant_store_creates_total', 'rate', since, { outcome: 'created' })
  expect(values(0)).toEqual([null, 5, 0, 1.5])
  expect(values(21_000)).toEqual([1.5])
  expect(values(41_000)).toEqual([])
})

test('percentiles are those of the time between two samples, in the right bucket', async () => {
  const { requests, sampleAt, valuesOf } = startMeasuring()
  const name = 'plant_store_request_duration_seconds'
  for (let number = 0; number < 1_000; number++) requests.answered('created', 200, 9_000)
  await sampleAt(1_000)
  for (let number = 0; number < 100; number++) requests.answered('unavailable', 503, 5_000)
  for (let number = 0; number < 75; number++) requests.answered('created', 200, 2)
  for (let number = 0; number < 25; number++) requests.answered('created', 200, 60)
  await sampleAt(11_000)
  await sampleAt(21_000)
  requests.answered('created', 200, 60_000)
  await sampleAt(31_000)
  // 75 of 100 within 2.5 ms, of which the bucket begins at 1 ms; 25 from 50 to 100 ms.
  expect(valuesOf(name, 'p50')).toEqual([null, 0.002, null, 10])
  expect(valuesOf(name, 'p90')).toEqual([null, 0.08, null, 10])
  expect(valuesOf(name, 'p99')).toEqual([null, 0.098, null, 10])
})

test('the mean is of the commits between two samples', async () => {
  const { store, sampleAt, valuesOf } = startMeasuring()
  const commit = (plants: number) =>
    store.commitEnded({ items: Array(plants).fill({}), startedAt: 0, endedAt: 1 } as never)
  commit(500)
  await sampleAt(1_000)
  for (const plants of [1, 2, 6]) commit(plants)
  await sampleAt(11_000)
  await sampleAt(21_000)
  expect(valuesOf('plant_store_commit_plants', 'mean')).toEqual([null, 3, null])
})

test('of a full hour there are 360 samples, each with a rate', async () => {
  const { sampleAt, valuesOf, timesAfter } = startMeasuring()
  for (let number = 1; number <= 400; number++) await sampleAt(number * SAMPLE_MS)
  const values = valuesOf('plant_store_creates_total', 'rate', 0, { outcome: 'created' })
  expect(values).toEqual(Array(360).fill(0))
  expect(timesAfter(0)).toHaveLength(360)
  expect(timesAfter(398 * SAMPLE_MS)).toEqual([399 * SAMPLE_MS, 400 * SAMPLE_MS])
})

test('a sample costs less than a thousandth of the CPU time between two', async () => {
  const { requests, sampleAt } = startMeasuring()
  for (const status of [200, 400, 401, 429, 500, 503]) requests.answered('created', status, 1)
  const samples = 300
  for (let number = 0; number < samples; number++) await sampleAt(number)
  const before = process.cpuUsage()
  for (let number = 0; number < samples; number++) await sampleAt(samples + number)
  const { user, system } = process.cpuUsage(before)
  const cpuMs = (user + system) / 1_000 / samples
  expect(cpuMs / SAMPLE_MS).toBeLessThan(0.001)
})
