import { parseArgs } from 'node:util'
import { describeCheck, fuzz, MEMORY_BOUND_BYTES } from './fuzz.ts'

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '50000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
  },
})
const count = Number(values.count)
const seed = Number(values.seed)

function toMiB(bytes: number): number {
  return Math.round(bytes / 1_048_576)
}

process.stdout.write(`${count} inputs, seed ${seed}\n`)
const startedAt = performance.now()
const { sent, check, peakBytes } = await fuzz({
  count,
  seed,
  onProgress: (done) => done % 10_000 === 0 && process.stdout.write(`${done}\n`),
})
const seconds = Math.round((performance.now() - startedAt) / 1_000)
process.stdout.write(
  `${sent} inputs in ${seconds} s; the server took up to ${toMiB(peakBytes)} MiB of ${toMiB(MEMORY_BOUND_BYTES)}\n`,
)
if (check !== undefined) {
  process.stdout.write(describeCheck(check))
  process.exitCode = 1
}
