import { expect, test } from 'vitest'
import { measureMemory } from '../soak/measure-memory.ts'

test('50,000 plants leave no more in memory than 5,000, and take little beyond fetch alone', async () => {
  const bare = await measureMemory('bare fetch', 50_000)
  const bulk = await measureMemory('createPlants', 50_000)
  // 40 bytes for each plant would be 1.8 MB.
  expect(bulk.liveLate - bulk.liveEarly).toBeLessThan(1.8)
  expect(bulk.liveLate).toBeLessThan(30)
  expect(bulk.rss / bare.rss).toBeLessThan(1.5)
})
