import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openCallers, press } from '../loops/callers.ts'
import { startServerProcess } from './server-process.ts'

/** The largest nursery of each thread so far, in MiB. */
function nurseriesIn(log: string): Map<string, number> {
  const largest = new Map<string, number>()
  for (const [, thread = '', size] of log.matchAll(/^nursery of (.*): (.*) MiB$/gm)) {
    largest.set(thread, Math.max(largest.get(thread) ?? 0, Number(size)))
  }
  return largest
}

describe('the nursery', () => {
  test.each([
    { loops: '1', serving: ['main'] },
    { loops: '2', serving: ['loop 1', 'loop 2'] },
  ])(
    'grows where plants are created, to about 16 MiB at most, with loops: $loops',
    async ({ loops, serving }) => {
      const server = await startServerProcess({
        nodeFlags: ['--import', join(import.meta.dirname, 'report-nursery.ts')],
        environment: { PLANT_STORE_LOOPS: loops },
      })
      // A full one would keep those of other threads small.
      expect(nurseriesIn(server.output()).get('main')).toBeLessThanOrEqual(8)
      const pressed = press(openCallers(server))
      onTestFinished(() => pressed.stop())
      const smallest = () => {
        const nurseries = nurseriesIn(server.output())
        return Math.min(...serving.map((thread) => nurseries.get(thread) ?? 0))
      }
      await expect.poll(smallest).toBeGreaterThanOrEqual(8)
      await pressed.stop()
      await server.end()
      // Some pages more while they are collected.
      expect(Math.max(...nurseriesIn(server.output()).values())).toBeLessThan(32)
    },
  )
})
