import { expect, test } from 'vitest'
import { type ServerProcess, startServerProcess } from '../../../../test/server-process.ts'
import { readPlants } from '../../../../test/sqlite-file.ts'
import { arrange } from '../commands/program.ts'
import { headerOf } from '../wire/expectations.ts'
import { openConnection } from '../wire/raw-socket.ts'
import { plantText, post } from '../wire/request.ts'

/** Longer than any test, so that what waits for it never ends. */
const NEVER_MS = '3600000'

/** A connection whose caller sends plants in two parts. */
async function call({ port, token }: ServerProcess) {
  const connection = await openConnection(port)
  const finish = () => connection.send('}')
  /** Sends the request for a plant but for the last byte of its body, which the server then awaits. */
  async function begin(id: number): Promise<void> {
    const parts = { authorization: `Bearer ${token}`, more: ['expect: 100-continue'] }
    connection.send(post(plantText(id), parts).subarray(0, -1))
    expect((await connection.readReply()).status).toBe(100)
  }
  return {
    ...connection,
    begin,
    finish,
    /** Reads the response to a plant, which must be the last of the connection, or must not. */
    async expectStored(isLast: boolean): Promise<void> {
      const response = await connection.readReply()
      const says = headerOf(response, 'connection')?.toLowerCase()
      expect([response.status, says === 'close']).toEqual([200, isLast])
    },
    async expectEnd(): Promise<void> {
      expect((await connection.readToEnd()).length).toBe(0)
    },
  }
}

async function start(environment: Readonly<Record<string, string>> = {}) {
  const { folder, path } = await arrange()
  const limit = { PLANT_STORE_SHUTDOWN_TIMEOUT_MS: NEVER_MS }
  const server = await startServerProcess({ folder, environment: { ...limit, ...environment } })
  return {
    server,
    storedIds: () => readPlants(path).map(({ id }) => id),
    call: () => call(server),
    async endsWell(): Promise<void> {
      expect(await server.ended).toMatchObject({ code: 0, signal: null })
    },
    async beginEnd(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
      server.kill(signal)
      while ((await fetch(`${server.operationsUrl}/readyz`)).status !== 503);
    },
  }
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s takes no new connection, lets a request in flight finish, stores its plant and ends with 0',
  async (signal) => {
    const { server, call, storedIds, beginEnd, endsWell } = await start()
    const caller = await call()
    await caller.begin(1)
    await beginEnd(signal)
    // Until then the kernel may take a connection that the end of the listener resets.
    const failure = () => fetch(server.url).catch((error: Error) => error.cause)
    await expect.poll(failure, { timeout: 10_000 }).toMatchObject({ code: 'ECONNREFUSED' })
    caller.finish()
    await caller.expectStored(true)
    await caller.expectEnd()
    await endsWell()
    expect(storedIds()).toEqual([1n])
  },
)

test('connections on which nothing is in flight do not hold the end up', async () => {
  const { server, call, endsWell } = await start()
  const [idle, silent] = [await call(), await call()]
  await idle.begin(1)
  idle.finish()
  await idle.expectStored(false)
  server.kill('SIGTERM')
  await idle.expectEnd()
  await silent.expectEnd()
  await endsWell()
})

test('with a delay it is not ready at once, serves on, and ends each connection in its turn', async () => {
  const delay = { PLANT_STORE_SHUTDOWN_DELAY_MS: '2000' }
  const { call, storedIds, beginEnd, endsWell } = await start(delay)
  const early = await call()
  await beginEnd()
  const late = await call()
  for (const [index, caller] of [early, late].entries()) {
    await caller.begin(index)
    caller.finish()
    await caller.expectStored(true)
    await caller.expectEnd()
  }
  await endsWell()
  expect(storedIds()).toEqual([0n, 1n])
})

test('a caller that never finishes holds the end up no longer than the limit', async () => {
  const { server, call, endsWell } = await start({ PLANT_STORE_SHUTDOWN_TIMEOUT_MS: '500' })
  const caller = await call()
  await caller.begin(1)
  server.kill('SIGTERM')
  await caller.expectEnd()
  await endsWell()
})

test.each([
  ['the delay', { PLANT_STORE_SHUTDOWN_DELAY_MS: '60000' }],
  ['the wait for a request in flight', {}],
])('a second signal ends %s at once', async (_what, environment) => {
  const { server, call, beginEnd } = await start(environment)
  await (await call()).begin(1)
  await beginEnd()
  expect(await server.end('SIGINT')).toMatchObject({ code: 1 })
})
