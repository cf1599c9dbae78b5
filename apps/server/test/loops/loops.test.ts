import { createServer } from 'node:net'
import { availableParallelism, totalmem } from 'node:os'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { loopsFor } from '../../src/http/loops/count-loops.ts'
import { runOn } from '../commands/program.ts'
import { findFreePort } from '../free-port.ts'
import { unitNodeFlags } from '../process/node-flags.ts'
import { logLinesIn, runToEnd, startServerProcess } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { ENOUGH, openCallers } from './callers.ts'
import { sampleOf, startLoopsServer } from './start-loops.ts'

const CREATED = 'plant_store_creates_total{outcome="created"}'

function loopsIn(log: string): unknown[] {
  const loops = logLinesIn(log).flatMap(({ msg, loop }) => (msg === 'answered' ? [loop] : []))
  return [...new Set(loops)].toSorted()
}

describe('a server with several event loops', () => {
  test.each([2, 4])('serves with all %i, and adds up what they count', async (loops) => {
    const server = await startLoopsServer({
      PLANT_STORE_LOOPS: String(loops),
      PLANT_STORE_LOG_LEVEL: 'debug',
    })
    const callers = openCallers(server, 4 * ENOUGH)
    const statuses = await Promise.all(callers.map((caller, id) => caller.create(id)))
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(loopsIn(server.output())).toEqual(Array.from({ length: loops }, (_, index) => index + 1))
    const metrics = await server.scrape()
    expect(sampleOf(metrics, CREATED)).toBe(callers.length)
    expect(sampleOf(metrics, 'plant_store_connections')).toBe(callers.length)
    expect((await server.end()).code).toBe(0)
    expect(server.storedIds().size).toBe(callers.length)
  })

  test('takes the level of the log to all of them', async () => {
    const server = await startLoopsServer()
    server.kill('SIGUSR2')
    await server.untilLogged('log level changed')
    await Promise.all(openCallers(server).map((caller, id) => caller.create(id)))
    expect(loopsIn(server.output())).toEqual([1, 2])
  })

  test('knows within 5 s on all of them that a token was revoked', async () => {
    const folder = temporaryFolder()
    const settings = {
      PLANT_STORE_LOG_LEVEL: 'debug',
      PLANT_STORE_FAILED_CREDENTIAL_LIMIT: 'off',
    }
    const server = await startLoopsServer(settings, { folder })
    const callers = openCallers(server)
    const all = () => Promise.all(callers.map((caller, id) => caller.create(id)))
    expect(new Set(await all())).toEqual(new Set([200]))
    expect(loopsIn(server.output())).toEqual([1, 2])
    const tokenId = /^plant_([^_]+)_/.exec(server.token)?.[1]
    const revoked = await runOn(`${folder}/data/plants.db`, `token revoke ${tokenId}`)
    expect(revoked.code).toBe(0)
    const since = performance.now()
    while (new Set(await all()).has(200)) expect(performance.now() - since).toBeLessThan(5_000)
    expect(new Set(await all())).toEqual(new Set([401]))
  })

  test('bounds the plants that wait for a commit in all of them together', async () => {
    const folder = temporaryFolder()
    const server = await startLoopsServer({ PLANT_STORE_QUEUE_LIMIT: '3' }, { folder })
    const callers = openCallers(server, 2 * ENOUGH)
    for (const [id, caller] of callers.entries()) expect(await caller.create(id)).toBe(200)
    const observer = new DatabaseSync(`${folder}/data/plants.db`)
    onTestFinished(() => observer.close())
    observer.exec('BEGIN IMMEDIATE')
    // Each loop has a commit that has begun, and the rest waits.
    const statuses = callers.map((caller, id) => caller.create(1_000 + id))
    const waiting = async () => sampleOf(await server.scrape(), 'plant_store_waiting_plants')
    await expect.poll(waiting, { interval: 10 }).toBeGreaterThanOrEqual(3)
    await sleep(500)
    expect(await waiting()).toBeLessThanOrEqual(3)
    observer.exec('ROLLBACK')
    expect(new Set(await Promise.all(statuses))).toEqual(new Set([200, 503]))
  })

  test('is not ready while one of them does not answer', async () => {
    const server = await startLoopsServer()
    const status = async () => (await fetch(`${server.operationsUrl}/readyz`)).status
    expect(await status()).toBe(200)
    const [caller] = openCallers(server, 1)
    const created = caller?.create(1, { 'x-end-loop': 'hang' })
    await expect.poll(status, { interval: 0 }).toBe(503)
    expect(await created).toBe(200)
    await expect.poll(status).toBe(200)
    expect(server.output()).toMatch(/event loop \d does not answer/)
  })
})

const MEBIBYTE = 1024 * 1024

test.each([
  { cores: 1, mebibytes: 8_192, loops: 1 },
  { cores: 2, mebibytes: 8_192, loops: 1 },
  { cores: 4, mebibytes: 8_192, loops: 3 },
  { cores: 4, mebibytes: 512, loops: 2 },
  { cores: 4, mebibytes: 128, loops: 1 },
  { cores: 64, mebibytes: 65_536, loops: 8 },
])('$cores cores and $mebibytes MiB are good for $loops', ({ cores, mebibytes, loops }) => {
  expect(loopsFor(cores, mebibytes * MEBIBYTE)).toBe(loops)
})

test('by default there are as many as are good for the cores and the memory of the process', async () => {
  const server = await startServerProcess({ environment: { PLANT_STORE_LOOPS: 'auto' } })
  const expected = process.platform === 'linux' ? loopsFor(availableParallelism(), totalmem()) : 1
  await server.untilLogged('"listening"')
  const [listening] = logLinesIn(server.output()).filter(({ msg }) => msg === 'listening')
  expect(listening?.loops).toBe(expected)
})

test('loops need a thread each, so without the permission for threads there is one', async () => {
  const root = new URL('../../../../', import.meta.url).pathname
  const nodeFlags = ['--permission', `--allow-fs-read=${root}`]
  const { code, err } = await runToEnd({ nodeFlags, environment: { PLANT_STORE_LOOPS: '2' } })
  expect(code).toBe(78)
  expect(err).toContain('PLANT_STORE_LOOPS: must be auto or 1 without --allow-worker')
})

test('loops serve under the flags of the systemd unit', async () => {
  const folder = temporaryFolder()
  const server = await startServerProcess({
    folder,
    nodeFlags: unitNodeFlags(folder),
    environment: {
      PLANT_STORE_LOOPS: '2',
      PLANT_STORE_LOG_LEVEL: 'debug',
      PLANT_STORE_DATABASE_URL: `sqlite:${folder}/data/plants.db`,
    },
  })
  const statuses = await Promise.all(openCallers(server).map((caller, id) => caller.create(id)))
  expect(new Set(statuses)).toEqual(new Set([200]))
  expect(loopsIn(server.output())).toEqual([1, 2])
})

describe('a port that another server has', () => {
  test.each([
    ['1', '2'],
    ['2', '1'],
    ['2', '2'],
  ])('is refused, where that one has %s loops and this one %s', async (first, second) => {
    const { port } = await startServerProcess({ environment: { PLANT_STORE_LOOPS: first } })
    const { code, err } = await runToEnd({
      environment: { PLANT_STORE_LOOPS: second, PLANT_STORE_LISTEN: `127.0.0.1:${port}` },
    })
    expect(code).toBe(69)
    expect(err).toContain(`cannot listen on host 127.0.0.1, port ${port}: EADDRINUSE`)
  })

  test('is refused to all but one of several that start at once', async () => {
    const port = await findFreePort()
    const environment = { PLANT_STORE_LOOPS: '2', PLANT_STORE_LISTEN: `127.0.0.1:${port}` }
    const starts = [1, 2, 3].map(() => startServerProcess({ environment }))
    const settled = await Promise.allSettled(starts)
    const reasons = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    expect(reasons.map(String)).toEqual([
      expect.stringContaining('EADDRINUSE'),
      expect.stringContaining('EADDRINUSE'),
    ])
  })

  test('is refused where another start has held its turn for 5 s', async () => {
    const port = await findFreePort()
    const turn = createServer().listen({ path: `\0plant-store-start:${port}` })
    onTestFinished(() => void turn.close())
    const { code, err } = await runToEnd({
      environment: { PLANT_STORE_LOOPS: '2', PLANT_STORE_LISTEN: `127.0.0.1:${port}` },
    })
    expect(code).toBe(69)
    expect(err).toContain('EADDRINUSE')
  })
})
