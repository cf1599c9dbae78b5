import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { History, MOST_COLUMNS, SAMPLES } from '../../../src/telemetry/overview/history.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const SAMPLE_MS = 10_000

function sampleOf(columns: number, value: number) {
  return Array.from({ length: columns }, (_, number) => ({
    name: 'plant_store_creates_total',
    labels: { outcome: `outcome_${number}` },
    value,
  }))
}

function memory(): number {
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** The values of the first column, oldest first. */
function valuesOf(history: History): (number | undefined)[] {
  const [column] = history.columns
  return Array.from({ length: history.length }, (_, index) => column?.ring[history.slotOf(index)])
}

test('takes less than 1 MB, however many measures and samples it gets', () => {
  const before = memory()
  const history = new History()
  for (let number = 1; number <= 3 * SAMPLES; number++) {
    history.add(number * SAMPLE_MS, sampleOf(2 * MOST_COLUMNS, number))
  }
  const grown = memory() - before
  expect([...history.columns]).toHaveLength(MOST_COLUMNS)
  expect(grown).toBeGreaterThan(700_000)
  expect(grown).toBeLessThan(1_000_000)
})

test('keeps the samples of the last hour, oldest first', () => {
  const history = new History()
  for (let number = 1; number <= 1_000; number++) {
    history.add(number * SAMPLE_MS, sampleOf(1, number))
  }
  expect(history.length).toBe(361)
  expect(history.timeOf(360) - history.timeOf(0)).toBe(3_600_000)
  expect(valuesOf(history)).toEqual(Array.from({ length: 361 }, (_, index) => 640 + index))
})

test('has no value where a measure was not there, not even one of an hour before', () => {
  const history = new History()
  for (let number = 1; number <= SAMPLES; number++) {
    history.add(number * SAMPLE_MS, sampleOf(1, number))
  }
  history.add((SAMPLES + 1) * SAMPLE_MS, [])
  expect(valuesOf(history).at(-1)).toBeNaN()
})

test('begins anew when the clock is set back', () => {
  const history = new History()
  for (const time of [1_000, 2_000, 3_000, 2_500, 2_600]) history.add(time, sampleOf(1, time))
  expect(valuesOf(history)).toEqual([2_500, 2_600])
})
