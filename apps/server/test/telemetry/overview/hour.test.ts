import { expect, test } from 'vitest'
import { Hour } from '../../../overview/hour.ts'
import type { OverviewReply } from '../../../src/telemetry/overview/reply.ts'

const INTERVAL = 10_000

/** A reply with samples of one metric at these times. */
function reply(times: readonly number[], name = 'plant_store_waiting_plants', at = times.at(-1)) {
  const series = [{ name, labels: {}, as: 'value', values: times }]
  return { at, times, series, intervalMs: INTERVAL } as unknown as OverviewReply
}

function valuesIn(hour: Hour, name = 'plant_store_waiting_plants') {
  return hour.find(name, 'value')[0]?.values
}

test('replies are put together, also where a metric comes later or ends', () => {
  const hour = new Hour()
  hour.add(reply([10_000, 20_000], 'plant_store_ready'))
  hour.add(reply([30_000]))
  expect(hour.times).toEqual([10_000, 20_000, 30_000])
  expect(valuesIn(hour, 'plant_store_ready')).toEqual([10_000, 20_000, null])
  expect(valuesIn(hour)).toEqual([null, null, 30_000])
})

test('a server that was away leaves a gap', () => {
  const hour = new Hour()
  hour.add(reply([10_000, 20_000]))
  hour.add(reply([90_000]))
  expect(valuesIn(hour)).toEqual([10_000, 20_000, null, 90_000])
})

test('what is older than an hour is forgotten', () => {
  const hour = new Hour()
  for (let time = INTERVAL; time <= 5_000_000; time += INTERVAL) hour.add(reply([time]))
  expect(hour.times).toHaveLength(361)
  expect(valuesIn(hour)).toEqual(hour.times)
  expect(hour.shownMs(hour.newest)).toBe(3_600_000)
})

test('a clock that was set back begins anew', () => {
  const hour = new Hour()
  hour.add(reply([80_000, 90_000]))
  hour.add(reply([], undefined, 50_000))
  hour.add(reply([60_000]))
  expect(valuesIn(hour)).toEqual([60_000])
})
