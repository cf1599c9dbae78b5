import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  logLinesIn,
  type ServerProcess,
  startServerProcess,
} from '../../../../test/server-process.ts'
import { chunk, post, postChunks } from '../wire/request.ts'
import { holdConnections } from './held.ts'
import { memoryOf, watchMemory } from './memory.ts'

/** What a create may wait on a busy machine; on a quiet one it is below 100 ms. */
const LONGEST_MS = 1_000

function start(environment: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
  const defaults = { PLANT_STORE_LOG_LEVEL: 'silent', PLANT_STORE_ADDRESS_LIMIT: 'off' }
  return startServerProcess({ environment: { ...defaults, ...environment } })
}

/** Sends good creates one after the other, each once, for `ms`; returns how long the longest took. */
async function createFor(ms: number, server: ServerProcess): Promise<number> {
  let longest = 0
  const end = performance.now() + ms
  for (let id = 1_000; performance.now() < end; id++) {
    const begin = performance.now()
    expect(await server.client.createPlant({ id, name: 'Fern' })).toEqual({ name: 'Fern' })
    longest = Math.max(longest, performance.now() - begin)
  }
  return longest
}

/** By how many MB the memory of a server that has warmed up grows at most while something happens. */
async function growthWhile(server: ServerProcess, work: () => Promise<unknown>): Promise<number> {
  await createFor(500, server)
  const before = memoryOf(server.pid)
  const memory = watchMemory(server.pid)
  await work()
  memory.end()
  return memory.largest() - before
}

function openSocket(server: ServerProcess): Socket {
  const socket = connect({ port: server.port, host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  return socket.on('error', () => {})
}

/** A create whose token is good. */
const create = (token: string, body: string) =>
  String(post(body, { authorization: `Bearer ${token}` }))

/** A body of spaces that never ends, in chunks of one byte. */
const inBytes = (token: string, count: number) =>
  String(postChunks(chunk(' ').repeat(count), { authorization: `Bearer ${token}` }))

const STRANGER = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const OLD_STRANGER = 'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'
const READING = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'
const ENDLESS = 'GET / HTTP/1.1\r\nHost: x\r\n'

/** Their responses are longer than the kernel's buffers on both sides, so that the server notices. */
const UNREAD = READING.repeat(256)

describe('a connection of a caller that reads nothing costs at most 256 KiB, whatever it sends:', () => {
  // Enough that the memory for the work itself hardly counts.
  const connections = 1_000
  test.each<[claim: string, textFor: (token: string) => string]>([
    ['requests behind responses that it does not read', () => UNREAD + STRANGER.repeat(4_800)],
    ['requests without a token', () => STRANGER.repeat(5_000)],
    ['requests of HTTP/1.0 that keep alive', () => OLD_STRANGER.repeat(3_000)],
    ['creates', (token) => create(token, '{"id":1,"name":"Fern"}').repeat(600)],
    ['a body in chunks of one byte', (token) => inBytes(token, 20_000)],
    ['such a body behind such responses', (token) => UNREAD + inBytes(token, 20_000)],
    ['a header of 3,900 lines without an end', () => ENDLESS + 'a:\r\n'.repeat(3_900)],
    ['one long line of a header without an end', () => `${ENDLESS}x: ${'a'.repeat(16_000)}`],
  ])('%s', async (_claim, textFor) => {
    const server = await start()
    const growthMb = await growthWhile(server, async () => {
      await holdConnections({ port: server.port, connections, text: textFor(server.token) })
      await createFor(2_000, server)
    })
    expect((growthMb * 1_024) / connections).toBeLessThan(256)
  })
})

test('public content that nobody reads takes no place of a create', async () => {
  const server = await start({ PLANT_STORE_REQUEST_LIMIT: '5' })
  await holdConnections({ port: server.port, connections: 40, text: READING.repeat(8_192) })
  // Until the kernel's buffers are full, some 10 MB for each.
  await sleep(4_000)
  expect(await createFor(1_000, server)).toBeLessThan(LONGEST_MS)
})

test('a body that comes more slowly than the rate is refused with 408 and not stored', async () => {
  const server = await start({ PLANT_STORE_REQUEST_TIMEOUT_MS: '300000' })
  const socket = openSocket(server)
  socket.write(create(server.token, ' '.repeat(400)).slice(0, -400))
  const begin = performance.now()
  const drip = setInterval(() => socket.write(' '), 100)
  onTestFinished(() => clearInterval(drip))
  const [reply] = await once(socket, 'data')
  expect(String(reply)).toMatch(/^HTTP\/1\.1 408 .*"error":40800/s)
  expect(performance.now() - begin).toBeGreaterThan(5_000)
})

test('a hundred bodies in chunks of one byte cost little memory, and creates are served', async () => {
  const server = await start()
  const growthMb = await growthWhile(server, async () => {
    const text = inBytes(server.token, 65_000)
    await holdConnections({ port: server.port, connections: 100, text })
    // 16 s if chunks are kept and read all at once.
    expect(await createFor(3_000, server)).toBeLessThan(LONGEST_MS)
  })
  expect(growthMb).toBeLessThan(100)
})

test.each([
  ['empty objects', '"more":[', '{},', '{}]'],
  ['empty arrays', '"more":[', '[],', '[]]'],
  ['fractions', '"more":[', '0.5,', '1]'],
  ['members', '', '"more":0,', '"more":0'],
])(
  '800 bodies of %s whose last bytes come at once cost little memory and time',
  async (_claim, before, part, after) => {
    const server = await start()
    const filling = part.repeat(65_000 / part.length)
    const body = `{"id":1,"name":"x",${before}${filling}${after}}`
    const text = create(server.token, body)
    const growthMb = await growthWhile(server, async () => {
      const sockets = Array.from({ length: 800 }, () => openSocket(server))
      for (const socket of sockets) socket.write(text.slice(0, -1))
      await Promise.all(sockets.map((socket) => once(socket, 'ready')))
      await createFor(1_000, server)
      const answered = sockets.map((socket) => once(socket, 'data'))
      for (const socket of sockets) socket.write(text.slice(-1))
      // 2 to 11 s if all values are built, and all in one turn.
      expect(await createFor(3_000, server)).toBeLessThan(LONGEST_MS)
      await Promise.all(answered)
    })
    expect(growthMb).toBeLessThan(300)
  },
)

test('a flood of requests without a token fills few lines of the log, which count all', async () => {
  const server = await start({
    PLANT_STORE_LOG_LEVEL: 'info',
    PLANT_STORE_FAILED_CREDENTIAL_LIMIT: 'off',
  })
  const kinds = [
    STRANGER,
    'POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\n\r\n',
    'garbage\r\n\r\n',
    'GET / HTTP/1.1\r\n\r\n',
  ]
  const begin = performance.now()
  for (let count = 0; count < 250; count++) {
    for (const kind of kinds) openSocket(server).write(kind)
  }
  const lines = () => logLinesIn(server.output()).filter((line) => 'error' in line)
  const noted = () => lines().reduce((sum, { leftOut }) => sum + 1 + Number(leftOut ?? 0), 0)
  await expect.poll(noted, { timeout: 20_000 }).toBe(250 * kinds.length)
  const seconds = (performance.now() - begin) / 1_000
  // Two of them have one name, and the first second has two lines of each.
  expect(lines().length).toBeLessThanOrEqual(3 * (seconds + 1))
  expect(new Set(lines().map(({ error }) => error))).toEqual(
    new Set(['missing_credentials', 'invalid_token', 'malformed_request']),
  )
})

test('a burst of 90,000 pipelined requests without a token holds up no create', async () => {
  const server = await start()
  // It knows the token, which is admitted even from an address over the limit.
  await createFor(100, server)
  await holdConnections({ port: server.port, connections: 10, text: STRANGER.repeat(9_000) })
  // 4.5 s if all are parsed and answered as they arrive.
  expect(await createFor(3_000, server)).toBeLessThan(LONGEST_MS)
})
