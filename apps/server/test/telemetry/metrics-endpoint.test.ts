import { describe, expect, test } from 'vitest'
import { build } from '../../src/process/build.ts'
import { openConnection } from '../wire/raw-socket.ts'
import { loadedModules } from './loaded-modules.ts'
import { type ScrapedServer, startScrapedServer } from './scraped-server.ts'

/** Everything before the value of each sample. */
async function seriesOf(server: ScrapedServer): Promise<string[]> {
  return [...(await server.scrape()).keys()].filter((name) => name.startsWith('plant_store_'))
}

describe('/metrics', () => {
  test('is Prometheus text with the headers of every reply, and read only', async () => {
    const { operationsUrl } = await startScrapedServer()
    const reply = await fetch(`${operationsUrl}/metrics`)
    expect(reply.status).toBe(200)
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.any(String),
    })
    expect((await fetch(`${operationsUrl}/metrics`, { method: 'HEAD' })).status).toBe(200)
    expect((await fetch(`${operationsUrl}/metrics`, { method: 'POST' })).status).toBe(405)
  })

  test('is not on the listener of the service', async () => {
    const { url, token } = await startScrapedServer()
    const headers = { authorization: `Bearer ${token}` }
    expect((await fetch(`${url}/metrics`)).status).toBe(401)
    expect((await fetch(`${url}/metrics`, { headers })).status).toBe(404)
  })

  test('shows the version and the lag of the event loop', async () => {
    const samples = await (await startScrapedServer()).scrape()
    const { version, node } = build
    expect(samples.get(`plant_store_build_info{version="${version}",node="${node}"}`)).toBe(1)
    expect(samples.get('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0)
  })

  test('shows that the server is ready until it is draining', async () => {
    const server = await startScrapedServer()
    expect((await server.scrape()).get('plant_store_ready')).toBe(1)
    // A request that is under way keeps the server draining until it is answered or cut.
    const caller = await openConnection(server.port)
    caller.send('POST /plants HTTP/1.1\r\nhost: x\r\n')
    await (await fetch(`${server.url}/plants`)).text()
    server.kill('SIGTERM')
    await expect.poll(async () => (await server.scrape()).get('plant_store_ready')).toBe(0)
  })

  test('has no new series after requests of any kind', async () => {
    const server = await startScrapedServer({}, 'marked-token-name')
    await server.client.createPlant({ id: 1, name: 'Fern' })
    await (await fetch(`${server.url}/plants`)).text()
    const before = await seriesOf(server)
    for (let number = 0; number < 50; number++) {
      await server.client.createPlant({ id: 1_000_000 + number, name: `marked-name-${number}` })
      const headers = { authorization: `Bearer marked-token-${number}` }
      await (await fetch(`${server.url}/marked-path-${number}`, { headers })).text()
    }
    const after = await seriesOf(server)
    expect(after).toEqual(before)
    expect(after.join('\n')).not.toContain('marked')
  })
})

test('with the operations listener off nothing is measured', async () => {
  const measuring = (listen: string) =>
    loadedModules('@prometheus-io', { PLANT_STORE_OPERATIONS_LISTEN: listen })
  expect(await measuring('127.0.0.1:0')).not.toEqual([])
  expect(await measuring('off')).toEqual([])
})
