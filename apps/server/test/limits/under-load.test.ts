import { expect, test } from 'vitest'
import { createOpaqueToken } from '../../src/auth/tokens.ts'
import { memoryOf, watchMemory } from './memory.ts'
import { type Pressed, percentile, startPressedServer } from './press.ts'

/** `pnpm overload` presses for a minute, on a machine that does nothing else: then time is judged too. */
const { PLANT_STORE_TEST_SECONDS } = process.env
const isQuiet = PLANT_STORE_TEST_SECONDS !== undefined
const seconds = Number(PLANT_STORE_TEST_SECONDS ?? 3)

/** More than the server ever needs here, and far less than what it would keep without limits. */
const MEMORY_MB = 700

/** Memory that a flood may cost beyond what the server had before. */
const FLOOD_MB = 200

/** What 99 of 100 creates wait at most, while others are refused and while none is. */
const REFUSING_P99_MS = 250
const GOOD_P99_MS = 100

function expectInTime({ latencies }: Pressed, mostMs: number): void {
  if (isQuiet) expect(percentile(latencies, 0.99)).toBeLessThan(mostMs)
}

test('more than can be served is answered 200 or 503, truthfully, and passes', {
  timeout: 120_000,
}, async () => {
  const server = await startPressedServer({ PLANT_STORE_REQUEST_LIMIT: '32' })
  const memory = watchMemory(server.pid)
  const storm = await server.press({ connections: 400, seconds })
  memory.end()
  expect([...storm.statuses.keys()].toSorted()).toEqual([200, 503])
  expectInTime(storm, REFUSING_P99_MS)
  expect(memory.largest()).toBeLessThan(MEMORY_MB)
  if (isQuiet) expect(memory.growth()).toBeLessThan(50)
  await server.pressGently(1)
  await server.endAndJudge()
})

test.each([
  ['one address', () => '198.51.100.1', [401, 429]],
  // An IPv6 network of its own for each.
  ['an address each', (id: number) => `2001:db8:${id.toString(16)}::1`, [401]],
] as const)(
  'wrong tokens from %s cost little memory and keep no good caller out',
  { timeout: 120_000 },
  async (_case, addressFor, statuses) => {
    const server = await startPressedServer({ PLANT_STORE_TRUSTED_PROXIES: '127.0.0.1' })
    // Seen before, as the token of a caller is that has been at work.
    await server.pressGently(0.5)
    const before = memoryOf(server.pid)
    const authorization = `Bearer ${createOpaqueToken().text}`
    const headers = (id: number) => ({ authorization, 'x-forwarded-for': addressFor(id % 65_536) })
    const [wrong, good] = await Promise.all([
      server.press({ connections: 32, perSecond: 5_000, seconds: seconds + 1, headers }),
      server.pressGently(seconds + 1),
    ])
    expect([...wrong.statuses.keys()].toSorted()).toEqual(statuses)
    expectInTime(good, GOOD_P99_MS)
    expect(memoryOf(server.pid) - before).toBeLessThan(FLOOD_MB)
    await server.endAndJudge()
  },
)
