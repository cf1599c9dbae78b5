import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CONCURRENCIES, clientContestants } from '../src/client/contestants.ts'
import { contestants, loadsOf } from '../src/contestants.ts'
import { NEW_IDS } from '../src/growth/contest.ts'
import { SIZES } from '../src/parts.ts'
import { renderFiles } from '../src/report/page.ts'
import { formatResults, parseResults } from '../src/report/results.ts'

const docs = join(import.meta.dirname, '../../../docs')

function read(name: string): string {
  return readFileSync(join(docs, name), 'utf8')
}

const text = read('performance/results.jsonl')
const files = renderFiles(read('performance.md'), parseResults(text))

// After a change of the report: `pnpm --filter @plant-store/benchmark test -u`.
test.each(Object.keys(files))('docs/%s is what its measurements say', async (name) => {
  await expect(files[name]).toMatchFileSnapshot(join(docs, name))
})

test('its measurements are those of a whole run, as the benchmark writes them', () => {
  const results = parseResults(text)
  const { rounds } = results.run
  const measured = results.measurements.map(
    ({ contestant, connections, ids }) => `${contestant} ${connections} ${ids}`,
  )
  const all = contestants.flatMap((one) =>
    loadsOf(one).map(({ connections, ids }) => `${one.name} ${connections} ${ids}`),
  )
  expect(measured).toEqual(Array.from({ length: rounds }, () => all).flat())
  const ofThread = results.commitThreads.map(({ ids }) => ids)
  expect(ofThread).toEqual(Array.from({ length: rounds }, () => ['random', 'rising']).flat())
  const { client, endurance, growth } = results.parts
  const ofClient = client?.measurements.map((one) => `${one.client} ${one.concurrency}`)
  const ways = CONCURRENCIES.flatMap((count) =>
    clientContestants.map(({ name }) => `${name} ${count}`),
  )
  expect(ofClient).toEqual(Array.from({ length: client?.run.rounds ?? 0 }, () => ways).flat())
  expect(client?.run.rounds).toBeGreaterThanOrEqual(5)
  const minutes = endurance?.measurements.map(({ minute }) => minute) ?? Array.from({ length: 11 })
  expect(minutes.length).toBeGreaterThan(10)
  const ofGrowth = growth?.measurements.map((one) => `${one.stored} ${one.ids}`)
  const growths = SIZES.flatMap((size) => NEW_IDS.map((ids) => `${size} ${ids}`))
  const { rounds: growthRounds = 0 } = growth?.run ?? {}
  expect(ofGrowth ?? []).toEqual(Array.from({ length: growthRounds }, () => growths).flat())
  expect(formatResults(results)).toBe(text)
})
