import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request as requestOverTls } from 'node:https'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type ErrorName, errorTable } from '@plant-store/contract'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { plantText, startServerProcess } from '../../../test/server-process.ts'
import { readPlants } from '../../../test/sqlite-file.ts'
import { temporaryFolder } from '../../../test/temporary-folder.ts'
import { needsProxies, PROXIES, type ProxyName, startProxy } from './start-proxy.ts'

interface Call {
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly path?: string
  readonly body?: string
  /** Which address of this machine calls. */
  readonly localAddress?: string
}

/** One request on a connection of its own. */
async function call(port: number, { token = '', headers, path = '/plants', ...rest }: Call) {
  const { body = '{}', localAddress = '127.0.0.1' } = rest
  const request = requestOverTls({
    ...{ host: '127.0.0.1', port, path, method: 'POST', agent: false, localAddress },
    rejectUnauthorized: false,
    servername: '',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...headers,
    },
  })
  request.end(body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const text = (await response.toArray()).join('')
  return { status: response.statusCode, headers: response.headers, body: JSON.parse(text) }
}

/** An Error body of the contract with its status, and the headers of every response of the server. */
function expectError(got: Awaited<ReturnType<typeof call>>, name: ErrorName): void {
  expect(errorTable[name]).toMatchObject({ code: got.body.error, status: got.status })
  expect(got.body.message).toEqual(expect.any(String))
  expect(got.headers).toMatchObject({
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': expect.stringMatching(/^[\w.-]{1,128}$/),
  })
}

async function start(name: ProxyName) {
  const folder = temporaryFolder()
  const environment = {
    PLANT_STORE_TRUSTED_PROXIES: '127.0.0.1',
    PLANT_STORE_FAILED_CREDENTIAL_LIMIT: '20',
  }
  const server = await startServerProcess({ folder, environment })
  const port = await startProxy(name, server)
  const isThere = async () => (await call(port, {}).catch(() => undefined))?.status === 401
  // HAProxy sends no request before its first health check.
  await vi.waitUntil(isThere, { timeout: 20_000, interval: 500 })
  return { path: join(folder, 'data/plants.db'), server, token: server.token, port }
}

describe.each(PROXIES)('through %s as it is shipped', needsProxies, (name) => {
  test('a plant keeps its id, and a caller its address, whatever it writes', async () => {
    const { path, token, port } = await start(name)
    const id = 2n ** 63n - 1n
    const good = {
      token,
      body: `{"id":${id},"name":"Fern"}`,
      headers: { 'x-request-id': 'one-of-mine' },
      localAddress: '127.0.0.2',
    }
    const { status, headers } = await call(port, good)
    expect([status, headers['x-request-id']]).toEqual([200, 'one-of-mine'])
    expect(readPlants(path).map((plant) => plant.id)).toEqual([id])
    const guess = (localAddress: string, forwarded: string) =>
      call(port, { token: 'wrong', localAddress, headers: { 'x-forwarded-for': forwarded } })
    const statuses: unknown[] = []
    for (let index = 0; index < 60; index++) {
      statuses.push((await guess('127.0.0.2', `198.51.100.${index}`)).status)
    }
    expect(statuses).toContain(429)
    expect((await guess('127.0.0.3', '127.0.0.2')).status).toBe(401)
    expect((await call(port, good)).status).toBe(200)
  })

  test('what is refused is refused with an Error body', async () => {
    const { token, port } = await start(name)
    expectError(await call(port, { token, body: '{' }), 'malformed_json')
    expectError(await call(port, { token, path: '/else' }), 'not_found')
    const headers = { 'x-large': 'a'.repeat(17_000) }
    expectError(await call(port, { token, headers }), 'headers_too_large')
    expectError(await call(port, { token, body: ' '.repeat(131_072) }), 'body_too_large')
  })

  test('a create whose server is killed may have been stored, and the response says so', async () => {
    const { path, server, token, port } = await start(name)
    // As another program that writes: no create is committed meanwhile.
    const database = new DatabaseSync(path, { timeout: 10_000 })
    database.exec('BEGIN IMMEDIATE')
    onTestFinished(() => database.close())
    const held = call(port, { token, body: plantText(1) })
    const hasCreate = async () => {
      const metrics = await (await fetch(`${server.operationsUrl}/metrics`)).text()
      return /^plant_store_token_cache_lookups_total\{.*\} [1-9]/m.test(metrics)
    }
    await vi.waitUntil(hasCreate, { timeout: 20_000 })
    server.kill('SIGKILL')
    const received = await held
    expectError(received, 'outcome_unknown')
    expect(received.body.message).toContain('may have been stored; it is safe to send it again')
    await server.ended

    const later = await call(port, { token, body: plantText(1) })
    expectError(later, name === 'HAProxy' ? 'outcome_unknown' : 'unavailable')
    expect(later.headers['retry-after']).toBe('1')
  })
})
