import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readPlants } from '../sqlite/sqlite-file.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { headerOf } from '../wire/expectations.ts'
import { type Connection, openConnection, type Reply } from '../wire/raw-socket.ts'
import { plantText, post } from '../wire/request.ts'
import { startLoad } from './load.ts'
import {
  clientWithoutRetries,
  type ServerProcess,
  type ServerProcessOptions,
  startServerProcess,
} from './server-process.ts'

/** Longer than any test, so that what waits for it never ends. */
const NEVER_MS = '3600000'

interface Caller extends Connection {
  /** Sends the request for a plant but for the last byte of its body. */
  begin(id: number): void
  finishPlant(): void
}

async function start(environment: ServerProcessOptions['environment'] = {}) {
  const folder = temporaryFolder()
  const server = await startServerProcess({
    folder,
    environment: { PLANT_STORE_SHUTDOWN_TIMEOUT_MS: NEVER_MS, ...environment },
  })
  return {
    server,
    storedIds: (): bigint[] => readPlants(join(folder, 'data/plants.db')).map(({ id }) => id),
    async call(): Promise<Caller> {
      const connection = await openConnection(server.port)
      const begin = (id: number) => {
        const authorization = `Bearer ${server.token}`
        const whole = post(plantText(id), { authorization, more: ['expect: 100-continue'] })
        connection.send(whole.subarray(0, -1))
      }
      return { ...connection, begin, finishPlant: () => connection.send('}') }
    },
  }
}

async function becomesUnready({ operationsUrl }: ServerProcess): Promise<void> {
  while ((await fetch(`${operationsUrl}/readyz`)).status !== 503);
}

/** Until then the kernel may take a connection that the end of the listener resets. */
async function refusesConnections({ url }: ServerProcess): Promise<void> {
  const failure = () =>
    fetch(url).then(
      () => undefined,
      (error: Error) => error.cause,
    )
  await expect.poll(failure, { timeout: 10_000 }).toMatchObject({ code: 'ECONNREFUSED' })
}

async function readFinal(caller: Connection): Promise<Reply> {
  const reply = await caller.readReply()
  return reply.status === 100 ? caller.readReply() : reply
}

function isLast(reply: Reply): boolean {
  return headerOf(reply, 'connection')?.toLowerCase() === 'close'
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s lets a request in flight finish, stores its plant and ends with 0',
  async (signal) => {
    const { server, call, storedIds } = await start()
    const caller = await call()
    caller.begin(1)
    expect((await caller.readReply()).status).toBe(100)
    server.kill(signal)
    await becomesUnready(server)
    caller.finishPlant()
    const reply = await caller.readReply()
    expect([reply.status, isLast(reply)]).toEqual([200, true])
    expect((await caller.readToEnd()).length).toBe(0)
    expect(await server.ended).toMatchObject({ code: 0, signal: null })
    expect(storedIds()).toEqual([1n])
  },
)

test('connections on which nothing is in flight do not hold the end up', async () => {
  const { server, call } = await start()
  const [idle, silent] = [await call(), await call()]
  idle.begin(1)
  idle.finishPlant()
  expect((await readFinal(idle)).status).toBe(200)
  server.kill('SIGTERM')
  expect((await idle.readToEnd()).length).toBe(0)
  expect((await silent.readToEnd()).length).toBe(0)
  expect(await server.ended).toMatchObject({ code: 0, signal: null })
})

test('no new connection is taken once the server ends', async () => {
  const { server, call } = await start()
  const caller = await call()
  caller.begin(1)
  await caller.readReply()
  server.kill('SIGTERM')
  await becomesUnready(server)
  await refusesConnections(server)
  caller.finishPlant()
  expect(await server.ended).toMatchObject({ code: 0, signal: null })
})

test('with a delay it is not ready at once, serves on, and ends each connection in its turn', async () => {
  const { server, call, storedIds } = await start({ PLANT_STORE_SHUTDOWN_DELAY_MS: '2000' })
  const early = await call()
  server.kill('SIGTERM')
  await becomesUnready(server)
  const late = await call()
  for (const [index, caller] of [early, late].entries()) {
    caller.begin(index)
    caller.finishPlant()
    const reply = await readFinal(caller)
    expect([reply.status, isLast(reply)]).toEqual([200, true])
    expect((await caller.readToEnd()).length).toBe(0)
  }
  expect(await server.ended).toMatchObject({ code: 0, signal: null })
  expect(storedIds()).toEqual([0n, 1n])
})

test('a caller that never finishes holds the end up no longer than the limit', async () => {
  const { server, call } = await start({ PLANT_STORE_SHUTDOWN_TIMEOUT_MS: '500' })
  const caller = await call()
  caller.begin(1)
  await caller.readReply()
  server.kill('SIGTERM')
  expect((await caller.readToEnd()).length).toBe(0)
  expect(await server.ended).toMatchObject({ code: 0, signal: null })
})

test('under load whatever was answered 200 is stored', async () => {
  const { server, storedIds } = await start()
  const load = startLoad(clientWithoutRetries(server), 16)
  while (load.acknowledged.size < 100) await new Promise(setImmediate)
  server.kill('SIGTERM')
  await load.ended
  expect(await server.ended).toMatchObject({ code: 0, signal: null })
  const stored = new Set(storedIds())
  expect([...load.acknowledged.keys()].filter((id) => !stored.has(id))).toEqual([])
})

test.each([
  ['the delay', { PLANT_STORE_SHUTDOWN_DELAY_MS: '60000' }],
  ['the wait for a request in flight', {}],
])('a second signal ends %s at once', async (_what, environment) => {
  const { server, call } = await start(environment)
  const caller = await call()
  caller.begin(1)
  await caller.readReply()
  server.kill('SIGTERM')
  await becomesUnready(server)
  expect(await server.end('SIGINT')).toMatchObject({ code: 1 })
})
