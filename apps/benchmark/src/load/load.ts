import type { LoadOrder } from '../measurement.ts'
import { generateLoad } from './generate.ts'

// The generator is our own: autocannon, making each request anew, needs a whole core for four
// fifths of what the raw server answers, so that ratios to it would flatter us. This one needs half
// a core for all of it, and agrees with wrk on every contestant.

process.on('message', async (order: LoadOrder) => {
  process.send?.(await generateLoad(order))
})
process.once('SIGTERM', () => process.exit())
