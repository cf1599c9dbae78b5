import { expect, test } from 'vitest'
import { createOpaqueToken } from '../../src/auth/tokens.ts'
import { createRequests, networkFor, type Pressed } from './load/press.ts'
import { startPressedServer } from './load/pressed-server.ts'
import { openSlowCallers } from './load/slow-callers.ts'
import { memoryOf, watchMemory } from './load/truth.ts'

// The bounds on time are held by `node soak/overload.ts`, on a machine that does nothing else.

/** More than the server ever needs here, and far less than what it would keep without limits. */
const MEMORY_MB = 700

/** Memory that a flood may cost beyond what the server had before. */
const FLOOD_MB = 200

const honest = { lost: [], storedThough: [] }

function statusesOf({ replies }: Pressed): number[] {
  return [...replies.keys()].toSorted()
}

function expectAllStored(good: Pressed): void {
  expect(good.acknowledged.length).toBe(good.sent)
  expect(good.sent).toBeGreaterThan(0)
}

test('more than can be served is answered 200 or 503, truthfully, and passes', {
  timeout: 120_000,
}, async () => {
  const server = await startPressedServer({
    PLANT_STORE_REQUEST_LIMIT: '32',
  })
  const memory = watchMemory(server.process.pid)
  const storm = await server.press({
    requestFor: server.goodRequest,
    connections: 400,
    seconds: 3,
    firstId: 1_000_000,
  })
  memory.stop()
  expect(statusesOf(storm)).toEqual([200, 503])
  expect(storm.acknowledged.length + storm.refused.length).toBe(storm.sent)
  expect(storm.lost).toBe(0)
  expect(memory.largest).toBeLessThan(MEMORY_MB)
  const after = await server.pressGently(1, 2_000_000)
  expectAllStored(after)
  expect(await server.findLies([storm, after])).toEqual(honest)
})

test('slow callers are cut at the limits, and good ones are served meanwhile', {
  timeout: 120_000,
}, async () => {
  const server = await startPressedServer({
    PLANT_STORE_REQUEST_TIMEOUT_MS: '1500',
    PLANT_STORE_KEEP_ALIVE_TIMEOUT_MS: '2000',
  })
  const memory = watchMemory(server.process.pid)
  const counts = { 'slow header': 30, 'slow body': 30, 'slow reading': 30, idle: 300 }
  const slow = await openSlowCallers({ port: server.port, counts, requestFor: server.goodRequest })
  const good = await server.pressGently(4, 1_000_000)
  slow.readToEnd()
  await expect.poll(() => slow.cut, { timeout: 20_000 }).toEqual(counts)
  memory.stop()
  slow.close()
  expectAllStored(good)
  expect(memory.largest).toBeLessThan(MEMORY_MB)
  expect(await server.findLies([good])).toEqual(honest)
})

test.each([
  ['one address', () => '198.51.100.1', [401, 429]],
  ['an address each', networkFor, [401]],
] as const)(
  'wrong tokens from %s cost little memory and keep no good caller out',
  {
    timeout: 120_000,
  },
  async (_case, addressFor, statuses) => {
    const server = await startPressedServer({ PLANT_STORE_TRUSTED_PROXIES: '127.0.0.1' })
    const before = await server.pressGently(0.5, 1_000_000)
    const memoryBefore = memoryOf(server.process.pid)
    const { text } = createOpaqueToken()
    const linesFor = (id: number) =>
      `authorization: Bearer ${text}\r\nx-forwarded-for: ${addressFor(id)}`
    const [wrong, good] = await Promise.all([
      server.press({
        requestFor: createRequests(server.port, linesFor),
        connections: 32,
        perSecond: 5_000,
        seconds: 4,
        firstId: 2_000_000,
      }),
      server.pressGently(4, 5_000_000),
    ])
    expect(statusesOf(wrong)).toEqual(statuses)
    expect(wrong.refused.length).toBe(wrong.sent)
    expectAllStored(good)
    expect(memoryOf(server.process.pid) - memoryBefore).toBeLessThan(FLOOD_MB)
    expect(await server.findLies([before, wrong, good])).toEqual(honest)
  },
)
