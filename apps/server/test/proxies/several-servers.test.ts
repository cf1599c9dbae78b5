import { encodeJson, errorTable } from '@plant-store/contract'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { findFreePort } from '../free-port.ts'
import { createHistory } from '../postgres/history.ts'
import {
  type PreparedDatabase,
  prepareDatabase,
  readRows,
  serve,
} from '../postgres/served-database.ts'
import { startStorm } from '../postgres/storm.ts'
import { usePostgres } from '../postgres/use-postgres.ts'
import { call, expectError, type Received } from './call.ts'
import { needsProxies, PROXIES, type RunningProxy, startProxy } from './proxy-process.ts'

vi.setConfig({ testTimeout: 120_000 })

const postgres = usePostgres()

/** Two servers at the same ports of two addresses, so that each can be started again in its place. */
async function arrange(database: PreparedDatabase) {
  const ports = [await findFreePort(), await findFreePort()]
  const start = (address: string) =>
    serve(database, {
      environment: {
        PLANT_STORE_LISTEN: `${address}:${ports[0]}`,
        PLANT_STORE_OPERATIONS_LISTEN: `${address}:${ports[1]}`,
        PLANT_STORE_TRUSTED_PROXIES: '127.0.0.1',
        // As proxies.md says: longer than two health checks.
        PLANT_STORE_SHUTDOWN_DELAY_MS: '3000',
      },
    })
  return { start, servers: [await start('127.0.0.1'), await start('127.0.0.2')] as const }
}

/** What is wrong with a reply: each must be a plant or an Error body that its status belongs to. */
function faultOf({ status, headers, body }: Received): string | undefined {
  const isError = Object.values(errorTable).some(
    (error) => error.status === status && error.code === body.error,
  )
  const isPlant = status === 200 && typeof body.name === 'string'
  const isRetry = status !== 503 || headers['retry-after'] !== undefined
  const isWhole = headers['content-type']?.startsWith('application/json') && headers['x-request-id']
  return (isPlant || isError) && isRetry && isWhole ? undefined : JSON.stringify({ status, body })
}

/** A caller that has a connection of its own for each request, and notes what is wrong. */
function createCaller(proxy: RunningProxy, token: string, faults: string[]) {
  async function createPlant({ body }: { body: { id: bigint | number } }) {
    const received = await call(proxy, { token, pieces: [encodeJson(body)] }).catch((error) => {
      faults.push(`no reply: ${error}`)
      throw error
    })
    const fault = faultOf(received)
    if (fault !== undefined) faults.push(fault)
    return received
  }
  return { rest: { createPlant } } as unknown as Parameters<
    ReturnType<typeof createHistory>['send']
  >[0]
}

describe.each(PROXIES)('two servers behind %s as it is shipped', needsProxies, (name) => {
  test('one killed, both restarted in turn, both away: every reply is an Error body and true', async () => {
    const database = await prepareDatabase(await postgres.createDatabase())
    const { token } = database
    const { start, servers } = await arrange(database)
    let [first, second] = servers
    const proxy = await startProxy(
      name,
      servers.map(({ url }) => url),
      first.operationsUrl,
    )
    await vi.waitUntil(async () => (await call(proxy, {})).status === 401, { timeout: 20_000 })

    const history = createHistory()
    const faults: string[] = []
    const clients = () => [createCaller(proxy, token, faults)]
    const storm = startStorm({ history, clients, callers: 6, seed: Date.now() })
    onTestFinished(() => storm.stop())
    await storm.acknowledges(50)
    await second.end('SIGKILL')
    await storm.acknowledges(50)
    second = await start('127.0.0.2')
    await storm.acknowledges(50)
    const unknownBefore = history.statuses.get(500) ?? 0
    expect((await first.end()).code).toBe(0)
    await storm.acknowledges(50)
    first = await start('127.0.0.1')
    await storm.acknowledges(50)
    expect((await second.end()).code).toBe(0)
    await storm.acknowledges(50)
    const unknownInTurn = (history.statuses.get(500) ?? 0) - unknownBefore

    await first.end('SIGKILL')
    await vi.waitUntil(async () => (await call(proxy, { token })).status >= 500, {
      timeout: 20_000,
    })
    const away = await call(proxy, { token, pieces: ['{"id":1,"name":"Fern"}'] })
    expectError(away, name === 'HAProxy' ? 'outcome_unknown' : 'unavailable')
    expect(away.headers['retry-after']).toBe('1')
    await start('127.0.0.1')
    await storm.acknowledges(50)
    await storm.stop()

    expect(faults).toEqual([])
    const verdict = history.judge(await readRows(database.databaseUrl))
    expect(verdict).toMatchObject({ lost: [], altered: [], doubled: [], lies: [] })
    // HAProxy and Caddy leave out a server that is not ready before it stops listening.
    if (!name.startsWith('nginx')) expect(unknownInTurn).toBe(0)
  })
})
