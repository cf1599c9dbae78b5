import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type ServerProcess, startServerProcess } from '../process/server-process.ts'
import { readPlants } from '../store/sqlite-file.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { call, expectError } from './call.ts'
import {
  needsProxies,
  PROXIES,
  type ProxyName,
  type RunningProxy,
  startProxy,
} from './proxy-process.ts'
import { createOverHttp2 } from './uploads.ts'

// Processes of a machine that is busy with other tests take their time.
vi.setConfig({ testTimeout: 60_000 })

/** What counts the connections that a proxy opens to its server. */
interface Relay {
  /** Leads to this server from now on, and gives its own address. */
  leadTo(serverUrl: string): string
  opened(): number
}

async function startRelay(): Promise<Relay> {
  let opened = 0
  let target = new URL('http://127.0.0.1')
  const relay = createServer({ allowHalfOpen: true }, (proxy) => {
    opened++
    const server = connect({
      host: target.hostname,
      port: Number(target.port),
      allowHalfOpen: true,
    })
    proxy.pipe(server).pipe(proxy)
    proxy.on('error', () => server.resetAndDestroy())
    server.on('error', () => proxy.resetAndDestroy())
  })
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void relay.close())
  return {
    opened: () => opened,
    leadTo(serverUrl) {
      target = new URL(serverUrl)
      return `http://127.0.0.1:${(relay.address() as AddressInfo).port}`
    },
  }
}

interface Running {
  readonly folder: string
  readonly server: ServerProcess
  readonly proxy: RunningProxy
}

interface StartOptions {
  readonly environment?: Readonly<Record<string, string>>
  /** Gives the address at which the proxy finds the server. */
  readonly via?: (serverUrl: string) => string
}

async function start(name: ProxyName, options: StartOptions = {}): Promise<Running> {
  const { environment = {}, via = (url) => url } = options
  const folder = temporaryFolder()
  const trusted = { PLANT_STORE_TRUSTED_PROXIES: '127.0.0.1' }
  const server = await startServerProcess({ folder, environment: { ...trusted, ...environment } })
  const proxy = await startProxy(name, [via(server.url)], server.operationsUrl)
  // HAProxy sends no request before its first health check.
  await vi.waitUntil(async () => (await call(proxy, {})).status === 401, { timeout: 20_000 })
  return { folder, server, proxy }
}

/** Keeps every create from being committed, as another program that writes would, until the test ends. */
function holdCommits(folder: string): void {
  const database = new DatabaseSync(join(folder, 'data/plants.db'), { timeout: 10_000 })
  database.exec('BEGIN IMMEDIATE')
  onTestFinished(() => database.close())
}

/** Whether a create has reached the server: its token has been looked up. */
async function hasCreate({ operationsUrl }: ServerProcess): Promise<boolean> {
  const metrics = await (await fetch(`${operationsUrl}/metrics`)).text()
  return /^plant_store_token_cache_lookups_total\{.*\} [1-9]/m.test(metrics)
}

const body = (id: number | bigint, name = 'Fern') => `{"id":${id},"name":"${name}"}`

describe.each(PROXIES)('through %s as it is shipped', needsProxies, (name) => {
  test('creates are stored with their exact ids, slow ones too, over few connections', async () => {
    const relay = await startRelay()
    const { folder, server, proxy } = await start(name, { via: relay.leadTo })
    const { token } = server
    const ids = Array.from({ length: 50 }, (_, index) => 2n ** 63n - 1n - BigInt(index))
    for (const id of ids.slice(0, 30)) {
      const { status, headers } = await call(proxy, {
        token,
        pieces: [body(id)],
        headers: { 'x-request-id': `create-${id}` },
      })
      expect([status, headers['x-request-id']]).toEqual([200, `create-${id}`])
    }
    for (const id of ids.slice(30))
      expect(await createOverHttp2(proxy.url, token, body(id))).toBe(200)
    const pieces = [...body(1, 'slow')]
    expect(await call(proxy, { token, pieces, pauseMs: 60 })).toMatchObject({ status: 200 })
    const stored = readPlants(join(folder, 'data/plants.db')).map(({ id }) => id)
    expect(new Set(stored)).toEqual(new Set([...ids, 1n]))
    // Each caller had a connection of its own; the proxy kept the few that it has to the server.
    expect(relay.opened()).toBeLessThan(10)
  })

  test('what a stranger writes into X-Forwarded-For is thrown away', async () => {
    const { server, proxy } = await start(name, {
      environment: { PLANT_STORE_FAILED_CREDENTIAL_LIMIT: '5' },
    })
    const good = { token: server.token, localAddress: '127.0.0.2', pieces: [body(1)] }
    expect((await call(proxy, good)).status).toBe(200)
    const guess = (localAddress: string, forwarded: string) =>
      call(proxy, {
        token: 'wrong',
        localAddress,
        headers: { 'x-forwarded-for': forwarded },
      })
    const statuses: number[] = []
    for (let index = 0; index < 20; index++) {
      statuses.push((await guess('127.0.0.2', `198.51.100.${index}`)).status)
    }
    expect(statuses).toContain(429)
    expect((await guess('127.0.0.3', '127.0.0.2')).status).toBe(401)
    expect((await call(proxy, good)).status).toBe(200)
  })

  test('errors of the server and of the proxy are Error bodies', async () => {
    const { server, proxy } = await start(name)
    const { token } = server
    expectError(await call(proxy, { token, pieces: ['{'] }), 'malformed_json')
    expectError(await call(proxy, { path: '/else', token }), 'not_found')
    const headers = { 'x-large': 'a'.repeat(17_000) }
    expectError(await call(proxy, { token, headers }), 'headers_too_large')
    expectError(await call(proxy, { token, pieces: [' '.repeat(131_072)] }), 'body_too_large')
  })

  test('a create whose server is killed may have been stored, and the reply says so', async () => {
    const { folder, server, proxy } = await start(name)
    holdCommits(folder)
    const held = call(proxy, { token: server.token, pieces: [body(1)] })
    await vi.waitUntil(() => hasCreate(server), { timeout: 20_000 })
    server.kill('SIGKILL')
    const received = await held
    expectError(received, 'outcome_unknown')
    expect(received.body.message).toContain('may have been stored; it is safe to send it again')
    expect(received.body.message).not.toContain('nothing was stored')
    await server.ended

    const later = await call(proxy, { token: server.token, pieces: [body(1)] })
    expectError(later, name === 'HAProxy' ? 'outcome_unknown' : 'unavailable')
    expect(later.headers['retry-after']).toBe('1')
  })
})

describe('by itself', needsProxies, () => {
  test('nginx answers with an Error body what it refuses before a server sees it', async () => {
    const { server, proxy } = await start('nginx')
    const { token } = server
    const headers = { 'x-large': 'a'.repeat(40_000) }
    expectError(await call(proxy, { token, headers }), 'headers_too_large')
    const path = `/plants?${'a'.repeat(40_000)}`
    expectError(await call(proxy, { token, path }), 'headers_too_large')
    const pieces = Array<string>(9).fill(' '.repeat(1_048_576))
    expectError(await call(proxy, { token, pieces }), 'body_too_large')
    const noRequest = { token, headers: { 'transfer-encoding': 'gzip' }, pieces: [] }
    expectError(await call(proxy, noRequest), 'malformed_request')
  })

  test('Caddy says 200 to nobody who asks for another host', async () => {
    const { server, proxy } = await start('Caddy')
    const call404 = { token: server.token, headers: { host: 'other.test' }, pieces: [body(1)] }
    const received = await call(proxy, call404)
    expect([received.status, received.body.error]).toEqual([404, 40400])
  })
})
