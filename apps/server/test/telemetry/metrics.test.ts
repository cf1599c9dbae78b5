import { rmSync, statSync } from 'node:fs'
import { errorTable } from '@plant-store/contract'
import { describe, expect, test } from 'vitest'
import { createMany, plantText as plant, post } from '../../../../test/server-process.ts'
import { build } from '../../src/process/build.ts'
import { startIssuer } from '../auth/issuer.ts'
import { JWT_RULES, someKey } from '../auth/jwt-service.ts'
import { openConnection } from '../wire/raw-socket.ts'
import { request } from '../wire/request.ts'
import { loadedModules } from './loaded-modules.ts'
import { type ScrapedServer, startScrapedServer } from './scraped-server.ts'

/** Resolves when a sample has a value. */
async function waitForSample(server: ScrapedServer, name: string, value: number): Promise<void> {
  while ((await server.scrape()).get(`plant_store_${name}`) !== value);
}

/** How often each outcome of a create was counted, if it was. */
function outcomes(samples: Map<string, number>): [outcome: string, count: number][] {
  const pattern = /^plant_store_creates_total\{outcome="(\w+)"\}$/
  return [...samples].flatMap(([name, count]) => {
    const [, outcome] = pattern.exec(name) ?? []
    return outcome === undefined ? [] : [[outcome, count]]
  })
}

test('/metrics is Prometheus text with the headers of every response', async () => {
  const { operationsUrl } = await startScrapedServer()
  const { headers } = await fetch(`${operationsUrl}/metrics`)
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': expect.any(String),
  })
})

test('with the operations listener off nothing is measured', async () => {
  const measuring = (listen: string) =>
    loadedModules('@prometheus-io', { PLANT_STORE_OPERATIONS_LISTEN: listen })
  expect(await measuring('127.0.0.1:0')).not.toEqual([])
  expect(await measuring('off')).toEqual([])
})

test('a server shows its version and its lag, and that it is ready until it is draining', async () => {
  const server = await startScrapedServer()
  const samples = await server.scrape()
  const { version, node } = build
  expect(samples.get(`plant_store_build_info{version="${version}",node="${node}"}`)).toBe(1)
  expect(samples.get('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0)
  expect(samples.get('plant_store_ready')).toBe(1)
  // A request that is under way keeps the server draining until it is answered or cut.
  const caller = await openConnection(server.port)
  caller.send('POST /plants HTTP/1.1\r\nhost: x\r\n')
  await (await fetch(`${server.url}/plants`)).text()
  server.kill('SIGTERM')
  await waitForSample(server, 'ready', 0)
})

test('each request to the service is counted by its outcome, and what it does to the store is measured', async () => {
  const server = await startScrapedServer()
  await (await fetch(`${server.operationsUrl}/plants`, { method: 'POST' })).text()
  const before = await server.scrape()
  const names = ['created', 'already_there', ...Object.keys(errorTable)]
  expect(outcomes(before)).toEqual(names.map((name) => [name, 0]))

  for (const body of [plant(1), plant(2), plant(1), plant(1, 'Moss'), '{', '{}', plant(2)]) {
    await (await post(server, { body })).text()
  }
  await (await post({ ...server, token: 'marked' })).text()
  await (await fetch(`${server.url}/marked`)).text()
  await (await fetch(`${server.url}/plants/1`, { headers: { authorization: '' } })).text()
  const caller = await openConnection(server.port)
  caller.send('no HTTP\r\n\r\n')
  await caller.readToEnd()
  const samples = await server.scrape()
  expect(outcomes(samples).filter(([, count]) => count > 0)).toEqual([
    ['created', 2],
    ['already_there', 2],
    ['malformed_request', 1],
    ['malformed_json', 1],
    ['invalid_plant', 1],
    ['id_taken', 1],
    ['missing_credentials', 2],
    ['invalid_token', 1],
  ])
  const read = (name: string) => samples.get(`plant_store_${name}`)
  // Of requests only: some bytes are none.
  expect(read('request_duration_seconds_count{status="200"}')).toBe(4)
  expect(read('request_duration_seconds_count{status="400"}')).toBe(3)
  expect(read('request_duration_seconds_sum{status="200"}')).toBeGreaterThan(0)
  expect(read('commit_failures_total')).toBe(0)
  expect(read('sqlite_disk_free_bytes')).toBeGreaterThan(0)
  expect(read('token_cache_tokens')).toBe(1)
  const lookups = (result: string) => Number(read(`token_cache_lookups_total{result="${result}"}`))
  // A miss is the first one, and each after 2.5 s; a token that is none is not looked up.
  expect(lookups('miss')).toBeGreaterThanOrEqual(1)
  expect(lookups('hit')).toBeGreaterThan(lookups('miss'))
  expect(lookups('hit') + lookups('miss')).toBe(7)
  // But for statuses no series is new, none is of the other engine, and none holds a caller's words.
  const seriesOf = (samples: Map<string, number>) =>
    [...samples.keys()].filter((name) => /^plant_store_(?!.*status=)/.test(name))
  expect(seriesOf(samples)).toEqual(seriesOf(before))
  expect(seriesOf(samples).join()).not.toMatch(/postgres|marked|greenhouse/)
})

describe('commits', () => {
  test('hold as many plants as were created, each of which waited once', async () => {
    const server = await startScrapedServer()
    await createMany(server, 100)
    const samples = await server.scrape()
    const read = (name: string) => samples.get(`plant_store_${name}`)
    const commits = read('commit_duration_seconds_count') ?? 0
    expect(commits).toBeGreaterThan(0)
    expect(commits).toBeLessThan(100)
    expect(read('commit_plants_count')).toBe(commits)
    expect(read('commit_plants_sum')).toBe(100)
    expect(read('commit_wait_seconds_count')).toBe(100)
    // The first use of a token is a commit too.
    expect(read('sqlite_commit_statement_duration_seconds_count')).toBeGreaterThanOrEqual(commits)
  })

  test('that wait for another process show as a queue', async () => {
    const server = await startScrapedServer()
    const caller = await openConnection(server.port)
    const first = request({ authorization: `Bearer ${server.token}` })
    caller.send(first)
    expect((await caller.readReply()).status).toBe(200)
    const release = server.holdCommits()
    caller.send(first)
    // Of two scrapes in a row, the second is read after all that came before the first.
    await server.scrape()
    await waitForSample(server, 'waiting_plants', 0)
    const waiting = [2, 3, 4].map((id) => server.client.createPlant({ id, name: 'Fern' }))
    await waitForSample(server, 'waiting_plants', 3)
    release()
    await Promise.all([caller.readReply(), ...waiting])
    caller.destroy()
    await waitForSample(server, 'waiting_plants', 0)
  })
})

test('a store shows the sizes of its files, and hides nothing else once they cannot be measured', async () => {
  const server = await startScrapedServer()
  await server.client.createPlant({ id: 1, name: 'Fern' })
  const sizesDiffer = async () => {
    const samples = await server.scrape()
    const shown = ['database', 'log'].map((name) => samples.get(`plant_store_sqlite_${name}_bytes`))
    return shown.map((size, index) => size !== statSync(server.path + ['', '-wal'][index]).size)
  }
  // The thread that commits lets the log grow once it runs, which may be between the two looks.
  await expect.poll(sizesDiffer).toEqual([false, false])
  rmSync(server.folder, { recursive: true })
  const samples = await server.scrape()
  expect(outcomes(samples)).toContainEqual(['created', 1])
  expect(samples.has('plant_store_waiting_plants')).toBe(false)
})

test('refusals are counted by the limit', async () => {
  const server = await startScrapedServer({ PLANT_STORE_FAILED_CREDENTIAL_LIMIT: '1' })
  while ((await post({ ...server, token: 'wrong' })).status !== 429);
  await waitForSample(server, 'limiter_actions_total{limiter="failed_credentials"}', 1)
  await waitForSample(server, 'limiter_actions_total{limiter="requests_in_flight"}', 0)
})

test('fetches of keys are counted by how they end, and the last good one is dated', async () => {
  const issuer = await startIssuer(someKey, (_request, response) => response.writeHead(500).end())
  const environment = { ...JWT_RULES, PLANT_STORE_JWKS_URL: issuer.url }
  const dated = 'jwks_last_fetch_timestamp_seconds'
  const without = await startScrapedServer(environment)
  await waitForSample(without, 'jwks_fetches_total{result="failed"}', 1)
  await waitForSample(without, dated, 0)
  issuer.reply = undefined
  const before = Date.now() / 1_000
  const withKeys = await startScrapedServer(environment)
  await waitForSample(withKeys, 'jwks_fetches_total{result="ok"}', 1)
  expect((await withKeys.scrape()).get(`plant_store_${dated}`)).toBeGreaterThanOrEqual(before)
})
