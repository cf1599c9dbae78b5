import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startOwn, startProgram } from '../child.ts'
import { CONNECTIONS, type Context, type Names, warmUp, withServer } from '../contest.ts'
import { createIds } from '../load/requests.ts'
import type { Row, SendOrder, SendResult } from '../measurement.ts'
import { ours, peer } from '../servers.ts'
import { endedChildrenSeconds, mostMib } from '../usage.ts'

const CLI = join(import.meta.dirname, '../../../cli/dist/main.js')

const ROWS_PER_SECOND = 8_000

/** How many rows of an import are on their way at once, by default. */
const IMPORT_CONCURRENCY = 16

/** A warm-up, then a row for each order. */
async function measureSender(names: Names, way: string, orders: readonly SendOrder[]) {
  const sender = startOwn('./senders/sender.ts', [way])
  const rows: Row[] = []
  for (const order of [...orders.slice(0, 1), ...orders]) {
    const seen = await sender.ask<SendResult>(order)
    rows.push({ ...names, atOnce: order.atOnce, ...seen, mib: mostMib(sender.pid) })
  }
  await sender.stop()
  return rows.slice(1)
}

/** What SQLite stores at most, without a server. */
export async function measureLoop(names: Names, { databases, seconds }: Context): Promise<Row[]> {
  const { folder, drop } = await databases.make('sqlite')
  const orders = CONNECTIONS.map((atOnce) => ({ to: join(folder, 'plants.db'), atOnce, seconds }))
  const rows = await measureSender(names, 'loop', orders)
  await drop()
  return rows
}

const CLIENTS = ['bare fetch', 'client.createPlant', 'client.createPlant over undici']

/** Bare fetch and createPlant, at a server that keeps nothing. */
export function measureClient(context: Context): Promise<Row[]> {
  const start = peer('./peers/raw.ts', 'forgets')
  return withServer(context, ['sqlite', start], async ({ target }) => {
    const { seconds } = context
    const order = { to: `http://127.0.0.1:${target.port}`, atOnce: CONNECTIONS[0], seconds }
    const measure = (title: string) =>
      measureSender({ title, dividedBy: 'bare fetch' }, title, [order])
    const rows: Row[] = []
    for (const title of CLIENTS) rows.push(...(await measure(title)))
    return rows
  })
}

/** `plant-store import` of a file of random ids into our server on SQLite, from start to end. */
export function measureImport(names: Names, context: Context): Promise<Row[]> {
  return withServer(context, ['sqlite', ours()], async (server, { folder }) => {
    await warmUp(context, server)
    const rows = Math.ceil(ROWS_PER_SECOND * context.seconds)
    const nextId = createIds()
    const lines = Array.from({ length: rows }, () => `${nextId()},Fern,indoor\n`)
    const file = join(folder, 'plants.csv')
    writeFileSync(file, `id,name,tag\n${lines.join('')}`)
    const { port, token } = server.target
    const PLANT_STORE_BASE_URL = `http://127.0.0.1:${port}`
    const env = { HOME: folder, PLANT_STORE_BASE_URL, PLANT_STORE_TOKEN: token }
    const cpuBefore = endedChildrenSeconds()
    const startedAt = performance.now()
    await startProgram(process.execPath, [CLI, 'import', file], env).end()
    const perSecond = (rows / (performance.now() - startedAt)) * 1_000
    const cpuUs = ((endedChildrenSeconds() - cpuBefore) / rows) * 1e6
    return [{ ...names, atOnce: IMPORT_CONCURRENCY, perSecond, cpuUs }]
  })
}
