import { expect, test } from 'vitest'
import { describeCheck, fuzz, MEMORY_BOUND_BYTES } from '../../fuzz/fuzz.ts'

const COUNT = 50_000

/** Many times what it takes where nothing else runs. */
const TIMEOUT_MS = 300_000

/** As the server was once started, and ended; now it takes `__proto__` away, unless nothing may. */
const THROWING_PROTO = [
  '--disable-proto=throw',
  `--import=data:text/javascript,${encodeURIComponent(
    "Object.defineProperty(Object.prototype, '__proto__', { configurable: false })",
  )}`,
]

test(`${COUNT} mutated requests leave the server alive, right and within its memory`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const seed = Date.now() % 1_000_000_000
  const { check, peakBytes } = await fuzz({ count: COUNT, seed })
  expect(check && describeCheck(check)).toBe(undefined)
  expect(peakBytes).toBeLessThan(MEMORY_BOUND_BYTES)
})

test('an exception by a header named __proto__, which ends a connection, is found by as little', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { check, sent } = await fuzz({ count: COUNT, seed: 1, nodeFlags: THROWING_PROTO })
  expect(sent).toBeLessThan(10_000)
  expect(check?.wrong).toMatch(/^the server logs:\n.*ERR_PROTO_ACCESS/s)
  expect(check?.inputs).toHaveLength(1)
  const bytes = check?.inputs[0]?.packets.join('')
  expect(bytes).toContain('__proto__')
  expect(bytes?.length).toBeLessThan(200)
})
