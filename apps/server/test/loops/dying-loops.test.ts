import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { logLinesIn, post } from '../process/server-process.ts'
import { openCallers, press } from './callers.ts'
import { sampleOf, startLoopsServer } from './start-loops.ts'

const DIED = 'an event loop has died, and is replaced'

const CREATED = 'plant_store_creates_total{outcome="created"}'

/** So that a loop runs out of memory soon. */
const SMALL_HEAP = ['--max-old-space-size=96']

test.each([
  ['an exception', 'exception', 'injected: an exception'],
  ['too little memory', 'memory', 'ERR_WORKER_OUT_OF_MEMORY'],
  ['an exit', 'exit', 'has ended with 3'],
])(
  'a loop that dies of %s is replaced: its callers get broken connections, the rest go on',
  async (_what, way, cause) => {
    const server = await startLoopsServer({}, { nodeFlags: SMALL_HEAP })
    const [killer, ...callers] = openCallers(server)
    const load = press(callers)
    await load.goOn(200)
    const before = sampleOf(await server.scrape(), CREATED)
    await killer?.create(0, { 'x-end-loop': way }).catch(() => {})
    await server.untilLogged(DIED)
    expect(server.output()).toContain(cause)
    await load.goOn(50)
    const whileAway = sampleOf(await server.scrape(), CREATED)
    const ready = async () => (await fetch(`${server.operationsUrl}/readyz`)).status
    await expect.poll(ready).toBe(200)
    await load.goOn(200)
    const after = sampleOf(await server.scrape(), CREATED)
    await load.stop()
    expect(before).toBeGreaterThan(0)
    expect(whileAway).toBeGreaterThan(before)
    expect(after).toBeGreaterThan(whileAway)
    // Nobody was told anything but 200 or nothing.
    expect([...load.statuses.keys()]).toEqual([200])
    // One connection each broke at most, and of the other loop's callers none.
    expect(Math.max(...load.broken)).toBe(1)
    expect(Math.min(...load.broken)).toBe(0)
    expect((await server.end()).code).toBe(0)
    const stored = server.storedIds()
    expect([...load.acknowledged].filter((id) => !stored.has(id))).toEqual([])
  },
)

test('what a loop held that dies is given back: connections and requests in flight', async () => {
  const server = await startLoopsServer({ PLANT_STORE_CONNECTION_LIMIT: '40' })
  const callers = openCallers(server)
  await Promise.all(callers.map((caller, id) => caller.create(id)))
  const open = async () => sampleOf(await server.scrape(), 'plant_store_connections')
  expect(await open()).toBe(callers.length)
  await callers[0]?.create(0, { 'x-end-loop': 'exception' }).catch(() => {})
  await expect.poll(async () => (await open()) < callers.length).toBe(true)
  await server.untilLogged(DIED)
  const again = openCallers(server, 40 - (await open()))
  const statuses = await Promise.all(again.map((caller, id) => caller.create(id)))
  expect(new Set(statuses)).toEqual(new Set([200]))
})

test('a loop that is replaced while the server drains ends each connection in its turn, too', async () => {
  const server = await startLoopsServer({
    PLANT_STORE_SHUTDOWN_DELAY_MS: '30000',
    PLANT_STORE_LOG_LEVEL: 'debug',
  })
  server.kill('SIGTERM')
  await server.untilLogged('"draining"')
  const [killer] = openCallers(server, 1)
  await killer?.create(0, { 'x-end-loop': 'exception' }).catch(() => {})
  await server.untilLogged(DIED)
  const answeredSince = () => {
    const lines = logLinesIn(server.output())
    const death = lines.findIndex(({ msg }) => msg === DIED)
    return lines
      .slice(death)
      .some(({ msg, loop }) => msg === 'answered' && loop === lines[death]?.loop)
  }
  const kept = new Set<string | null>()
  while (!answeredSince()) {
    const reply = await post(server).catch(() => undefined)
    if (reply !== undefined) kept.add(reply.headers.get('connection'))
    await reply?.text()
  }
  expect([...kept]).toEqual(['close'])
})

test('loops that have all died do not share their port with whoever has it since', async () => {
  const server = await startLoopsServer()
  const callers = openCallers(server)
  await Promise.all(callers.map((caller, id) => caller.create(id)))
  const other = createServer()
  other.listen({ host: '127.0.0.1', port: server.port, reusePort: true })
  onTestFinished(() => void other.close())
  await once(other, 'listening')
  await Promise.all(
    callers.map((caller) => caller.create(0, { 'x-end-loop': 'exception' }).catch(() => {})),
  )
  await server.untilLogged('an event loop could not be replaced yet')
  const { code, err } = await server.ended
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('EADDRINUSE') })
})

test('loops that die five times within a minute end the process, as an exception does', async () => {
  const server = await startLoopsServer()
  for (let deaths = 1; deaths <= 5; deaths++) {
    const [caller] = openCallers(server, 1)
    await caller?.create(0, { 'x-end-loop': 'exception' }).catch(() => {})
    await server.untilLogged(DIED, deaths)
    if (deaths === 5) break
    const ready = async () => (await fetch(`${server.operationsUrl}/readyz`)).status
    await expect.poll(ready).toBe(200)
  }
  const { code, err } = await server.ended
  expect(code).toBe(1)
  expect(err).toMatch(/"level":"fatal".*5 event loops have died.*"stopped by an exception"/)
  expect(err).toContain('injected: an exception')
})

test('after kill -9 under load whatever was answered 200 is stored', async () => {
  const server = await startLoopsServer()
  const load = press(openCallers(server))
  await load.goOn(1_000)
  await server.end('SIGKILL')
  await load.stop()
  const stored = server.storedIds()
  expect(load.acknowledged.size).toBeGreaterThanOrEqual(1_000)
  expect([...load.acknowledged].filter((id) => !stored.has(id))).toEqual([])
})

test('after SIGTERM under load whatever was answered 200 is stored, and nobody got a lie', async () => {
  const server = await startLoopsServer()
  const load = press(openCallers(server))
  await load.goOn(1_000)
  const { code } = await server.end()
  await load.stop()
  expect(code).toBe(0)
  expect([...load.statuses.keys()]).toEqual([200])
  const stored = server.storedIds()
  expect([...load.acknowledged].filter((id) => !stored.has(id))).toEqual([])
})
