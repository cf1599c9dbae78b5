import { expect, test } from 'vitest'
import { startMeasuredServer } from './measured-server.ts'

test('two servers that share a process count each for itself', async () => {
  const [one, other] = [await startMeasuredServer(), await startMeasuredServer()]
  await one.client.createPlant({ id: 1, name: 'Fern' })
  const created = 'plant_store_creates_total{outcome="created"}'
  expect((await one.scrape()).get(created)).toBe(1)
  expect((await other.scrape()).get(created)).toBe(0)
})
