import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startServerProcess } from './server-process.ts'

/** The largest nursery of each thread so far, in MiB. */
function nurseriesIn(log: string): Map<string, number> {
  const largest = new Map<string, number>()
  for (const [, thread = '', size] of log.matchAll(/^nursery of (.*): (.*) MiB$/gm)) {
    largest.set(thread, Math.max(largest.get(thread) ?? 0, Number(size)))
  }
  return largest
}

test('the nursery grows where plants are created, to about 16 MiB at most', async () => {
  const server = await startServerProcess({
    nodeFlags: ['--import', join(import.meta.dirname, 'report-nursery.ts')],
  })
  // A full one would keep those of other threads small.
  expect(nurseriesIn(server.output()).get('main')).toBeLessThanOrEqual(8)
  let isOver = false
  let id = 0
  async function keepCreating(): Promise<void> {
    while (!isOver) await server.client.createPlant({ id: ++id, name: 'Fern' })
  }
  const callers = Array.from({ length: 32 }, keepCreating)
  await expect.poll(() => nurseriesIn(server.output()).get('main') ?? 0).toBeGreaterThanOrEqual(8)
  isOver = true
  await Promise.all(callers)
  await server.end()
  // Some pages more while they are collected.
  expect(Math.max(...nurseriesIn(server.output()).values())).toBeLessThan(32)
})
