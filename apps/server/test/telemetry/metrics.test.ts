import { once } from 'node:events'
import { rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { errorTable } from '@plant-store/contract'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { createMany, plantText as plant, post } from '../process/server-process.ts'
import { openConnection } from '../wire/raw-socket.ts'
import { request } from '../wire/request.ts'
import { type ScrapedServer, startScrapedServer } from './scraped-server.ts'

/** Lets no commit end until the returned function is called, like another process that writes. */
function holdCommits({ folder }: ScrapedServer): () => void {
  const other = new DatabaseSync(join(folder, 'plants.db'), { timeout: 10_000 })
  other.exec('BEGIN IMMEDIATE')
  return () => {
    other.exec('ROLLBACK')
    other.close()
  }
}

/** Resolves when a sample has a value. */
async function waitForSample(server: ScrapedServer, name: string, value: number): Promise<void> {
  while ((await server.scrape()).get(name) !== value);
}

function outcomes(samples: Map<string, number>): Record<string, number> {
  const pattern = /^plant_store_creates_total\{outcome="(\w+)"\}$/
  return Object.fromEntries(
    [...samples].flatMap(([name, value]) => {
      const [, outcome] = pattern.exec(name) ?? []
      return outcome === undefined ? [] : [[outcome, value]]
    }),
  )
}

describe('creates', () => {
  test('have a series for each outcome from the start, and are none on the operations listener', async () => {
    const server = await startScrapedServer()
    await (await fetch(`${server.operationsUrl}/plants`, { method: 'POST' })).text()
    const names = ['created', 'already_there', ...Object.keys(errorTable)]
    expect(outcomes(await server.scrape())).toEqual(
      Object.fromEntries(names.map((name) => [name, 0])),
    )
  })

  test('are counted by their outcome, and timed by their status if they became requests', async () => {
    const server = await startScrapedServer()
    for (const body of [plant(1), plant(2), plant(1), plant(1, 'Moss'), '{', '{}', plant(2)]) {
      await (await post(server, { body })).text()
    }
    await (await post({ ...server, token: 'wrong' })).text()
    await (await fetch(`${server.url}/plants`)).text()
    await (await fetch(`${server.url}/plants/1`, { headers: { authorization: '' } })).text()
    const caller = await openConnection(server.port)
    caller.send('no HTTP\r\n\r\n')
    await caller.readToEnd()
    const samples = await server.scrape()
    const duration = 'plant_store_request_duration_seconds'
    expect(samples.get(`${duration}_count{status="200"}`)).toBe(4)
    expect(samples.get(`${duration}_count{status="400"}`)).toBe(3)
    expect(samples.get(`${duration}_sum{status="200"}`)).toBeGreaterThan(0)
    const counted = outcomes(samples)
    expect(Object.entries(counted).filter(([, count]) => count > 0)).toEqual([
      ['created', 2],
      ['already_there', 2],
      ['malformed_request', 1],
      ['malformed_json', 1],
      ['invalid_plant', 1],
      ['id_taken', 1],
      ['missing_credentials', 2],
      ['invalid_token', 1],
    ])
  })
})

describe('commits', () => {
  test('hold as many plants as were created, each of which waited once', async () => {
    const server = await startScrapedServer()
    await createMany(server, 100)
    const samples = await server.scrape()
    const commits = samples.get('plant_store_commit_duration_seconds_count') ?? 0
    expect(commits).toBeGreaterThan(0)
    expect(commits).toBeLessThan(100)
    expect(samples.get('plant_store_commit_plants_count')).toBe(commits)
    expect(samples.get('plant_store_commit_plants_sum')).toBe(100)
    expect(samples.get('plant_store_commit_wait_seconds_count')).toBe(100)
    expect(samples.get('plant_store_commit_failures_total')).toBe(0)
    const statements = 'plant_store_sqlite_commit_statement_duration_seconds_count'
    // The first use of a token is a commit too.
    expect(samples.get(statements)).toBeGreaterThanOrEqual(commits)
  })

  test('that wait for another process show as a queue', async () => {
    const server = await startScrapedServer()
    const caller = await openConnection(server.port)
    const first = request({ authorization: `Bearer ${server.token}` })
    caller.send(first)
    expect((await caller.readReply()).status).toBe(200)
    const release = holdCommits(server)
    caller.send(first)
    // Of two scrapes in a row, the second is read after all that came before the first.
    await server.scrape()
    await waitForSample(server, 'plant_store_waiting_plants', 0)
    const waiting = [2, 3, 4].map((id) => server.client.createPlant({ id, name: 'Fern' }))
    await waitForSample(server, 'plant_store_waiting_plants', 3)
    release()
    await Promise.all([caller.readReply(), ...waiting])
    caller.destroy()
    await waitForSample(server, 'plant_store_waiting_plants', 0)
  })
})

describe('the store', () => {
  test('shows the sizes of its files and the free space', async () => {
    const server = await startScrapedServer()
    await server.client.createPlant({ id: 1, name: 'Fern' })
    const path = join(server.folder, 'plants.db')
    const sizesDiffer = async () => {
      const samples = await server.scrape()
      const shown = ['database', 'log'].map((name) =>
        samples.get(`plant_store_sqlite_${name}_bytes`),
      )
      return shown.map((size, index) => size !== statSync(path + ['', '-wal'][index]).size)
    }
    // The thread that commits lets the log grow once it runs, which may be between the two looks.
    await expect.poll(sizesDiffer).toEqual([false, false])
    const samples = await server.scrape()
    expect(samples.get('plant_store_sqlite_disk_free_bytes')).toBeGreaterThan(0)
    expect([...samples.keys()].filter((name) => name.includes('postgres'))).toEqual([])
  })

  test('that cannot be measured hides nothing else', async () => {
    const server = await startScrapedServer()
    await server.client.createPlant({ id: 1, name: 'Fern' })
    rmSync(server.folder, { recursive: true })
    const samples = await server.scrape()
    expect(outcomes(samples).created).toBe(1)
    expect(samples.has('plant_store_waiting_plants')).toBe(false)
  })
})

describe('tokens', () => {
  test('count as hits where the server need not ask the store', async () => {
    const server = await startScrapedServer()
    const begin = performance.now()
    for (let id = 0; id < 5; id++) await server.client.createPlant({ id, name: 'Fern' })
    // What it knows of a token lasts for 2.5 s.
    const most = 1 + Math.floor((performance.now() - begin) / 2_500)
    await (await post({ ...server, token: `${server.token.slice(0, -1)}x` })).text()
    const samples = await server.scrape()
    const lookups = (result: string) =>
      samples.get(`plant_store_token_cache_lookups_total{result="${result}"}`) ?? 0
    expect(lookups('miss')).toBeGreaterThanOrEqual(1)
    expect(lookups('miss')).toBeLessThanOrEqual(most)
    expect(lookups('hit') + lookups('miss')).toBe(5)
    expect(samples.get('plant_store_token_cache_tokens')).toBe(1)
  })
})

test('refusals are counted by the limit', async () => {
  const server = await startScrapedServer({ PLANT_STORE_FAILED_CREDENTIAL_LIMIT: '1' })
  while ((await post({ ...server, token: 'wrong' })).status !== 429);
  const samples = await server.scrape()
  const acted = (limiter: string) =>
    samples.get(`plant_store_limiter_actions_total{limiter="${limiter}"}`)
  expect(acted('failed_credentials')).toBe(1)
  expect(acted('requests_in_flight')).toBe(0)
})

test('fetches of keys are counted by how they end, and the last good one is dated', async () => {
  let status = 500
  const issuer = createServer((_request, response) => response.writeHead(status).end('{"keys":[]}'))
  await once(issuer.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void issuer.close())
  const environment = {
    PLANT_STORE_JWKS_URL: `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/keys`,
    PLANT_STORE_JWT_ISSUER: 'https://issuer.test',
    PLANT_STORE_JWT_AUDIENCE: 'plants',
  }
  const failed = 'plant_store_jwks_fetches_total{result="failed"}'
  const dated = 'plant_store_jwks_last_fetch_timestamp_seconds'
  const without = await startScrapedServer(environment)
  await expect.poll(async () => (await without.scrape()).get(failed)).toBeGreaterThan(0)
  expect((await without.scrape()).get(dated)).toBe(0)
  status = 200
  const before = Date.now() / 1_000
  const withKeys = await startScrapedServer(environment)
  await expect.poll(async () => (await withKeys.scrape()).get(dated)).toBeGreaterThanOrEqual(before)
})

test('only responses outcome_unknown count as unknown outcomes', async () => {
  const { requests, print } = createMetrics()
  requests.answered('outcome_unknown', 500, 1)
  requests.answered('unavailable', 503, 1)
  const text = await print()
  expect(text).toMatch(/^plant_store_unknown_outcomes_total 1$/m)
  expect(text).toMatch(/^plant_store_creates_total\{outcome="outcome_unknown"\} 1$/m)
})
