import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ServerProcess, startServerProcess } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { type Held, holdConnections, hostileBytes } from './load/held.ts'
import { type MemoryWatch, memoryOf, watchMemory } from './load/truth.ts'

// The bounds on time are held by `node soak/attacks.ts`, on a machine that does nothing else.

/** Longer than the buffers of the kernel on both sides, so that the server sees that it is not read. */
const PAGE = '/docs/swagger-ui-bundle.js'

/** What a create may wait on a busy machine; on a quiet one it is below 100 ms. */
const LONGEST_MS = 1_000

function start(environment: Readonly<Record<string, string>>): Promise<ServerProcess> {
  return startServerProcess({
    folder: temporaryFolder(),
    environment: {
      PLANT_STORE_LOG_LEVEL: 'silent',
      // What a busy machine makes of creates that wait is not the subject.
      PLANT_STORE_WAIT_LIMIT_MS: '60000',
      PLANT_STORE_ADDRESS_LIMIT: 'off',
      ...environment,
    },
  })
}

function portOf({ url }: ServerProcess): number {
  return Number(new URL(url).port)
}

async function hold(server: ServerProcess, held: Omit<Held, 'port'>): Promise<void> {
  const end = await holdConnections({ port: portOf(server), ...held })
  onTestFinished(end)
}

/** Good creates, one after the other, for so long, each sent once and stored; how long the longest took. */
async function createFor(ms: number, { url, token }: ServerProcess): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  let longest = 0
  const end = performance.now() + ms
  for (let id = 1_000; performance.now() < end; id++) {
    const begin = performance.now()
    const body = `{"id":${id},"name":"Fern"}`
    const reply = await fetch(`${url}/plants`, { method: 'POST', headers, body })
    expect(await reply.json()).toEqual({ name: 'Fern' })
    longest = Math.max(longest, performance.now() - begin)
  }
  return longest
}

function watch({ pid }: ServerProcess): MemoryWatch {
  const memory = watchMemory(pid)
  onTestFinished(memory.stop)
  return memory
}

describe('a connection of a caller that reads nothing costs at most 256 KiB, whatever it sends:', () => {
  // So many that what the server needs for the work itself hardly counts.
  const connections = 1_000
  test.each(Object.keys(hostileBytes('', PAGE)))('%s', async (name) => {
    const server = await start({})
    await createFor(500, server)
    const before = memoryOf(server.pid)
    const memory = watch(server)
    await hold(server, { connections, bytes: hostileBytes(server.token, PAGE)[name] as Buffer })
    await createFor(2_000, server)
    memory.stop()
    expect(((memory.largest - before) * 1_024) / connections).toBeLessThan(256)
  })
})

test('2,000 connections that read nothing cost at most 300 MB, and creates are served', async () => {
  const server = await start({})
  await createFor(500, server)
  const before = memoryOf(server.pid)
  const memory = watch(server)
  const bytes = hostileBytes(server.token, PAGE)['requests behind a reply that it does not read']
  await hold(server, { connections: 2_000, bytes: bytes as Buffer })
  await createFor(3_000, server)
  memory.stop()
  expect(memory.largest - before).toBeLessThan(300)
})

test('public content that nobody reads takes no place of a create', async () => {
  const server = await start({ PLANT_STORE_REQUEST_LIMIT: '20' })
  await hold(server, {
    connections: 100,
    bytes: Buffer.from(`GET ${PAGE} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(32)),
  })
  // Until the buffers of the kernel are full, some 10 MB for each.
  await sleep(4_000)
  await createFor(1_000, server)
})

/** When the server ends a connection, in ms since it stopped reading; found out by writing to it. */
async function timeUnread(port: number): Promise<number> {
  const socket: Socket = connect({ port, host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  socket.on('error', () => {})
  const begin = performance.now()
  socket.write(`GET ${PAGE} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(8))
  while (!socket.destroyed) {
    await sleep(50)
    socket.write('G')
  }
  return performance.now() - begin
}

test.each([16_384, 8_192, 4_096])(
  'at %i bytes a second an unread answer is given up after the time of 16 KiB and a second',
  async (rate) => {
    const server = await start({ PLANT_STORE_MIN_DATA_RATE_BYTES: String(rate) })
    const due = (16_384 / rate) * 1_000
    const took = await timeUnread(portOf(server))
    expect(took).toBeGreaterThan(due)
    // Half a second for each of two looks, and as much again for a busy machine.
    expect(took).toBeLessThan(due + 2_000)
  },
)

test('a reader that is slow but keeps the rate gets its whole reply', async () => {
  const server = await start({ PLANT_STORE_MIN_DATA_RATE_BYTES: '65536' })
  const socket = connect({ port: portOf(server), host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  socket.write(`GET ${PAGE} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  let received = 0
  for await (const chunk of socket) {
    received += chunk.length
    if (received < 1_000_000) await sleep(5)
  }
  const { headers } = await fetch(`${server.url}${PAGE}`, { method: 'HEAD' })
  expect(received).toBeGreaterThan(Number(headers.get('content-length')))
})

test('a body that comes more slowly than the rate is refused with 408 and not stored', async () => {
  const server = await start({ PLANT_STORE_MIN_DATA_RATE_BYTES: '50' })
  const socket = connect({ port: portOf(server), host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  socket.write(
    `POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 400\r\n\r\n',
  )
  const begin = performance.now()
  const drip = setInterval(() => socket.write(' '), 100)
  onTestFinished(() => clearInterval(drip))
  const [reply] = await once(socket, 'data')
  expect(String(reply)).toMatch(/^HTTP\/1\.1 408 .*"error":40800/s)
  expect(performance.now() - begin).toBeGreaterThan(5_000)
})

test('a hundred bodies in chunks of one byte cost little memory, and creates are served', async () => {
  const server = await start({})
  await createFor(500, server)
  const before = memoryOf(server.pid)
  const memory = watch(server)
  const bearer = `Host: x\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\n`
  const chunks = '1\r\n \r\n'.repeat(65_000)
  await hold(server, {
    connections: 100,
    bytes: Buffer.from(
      `POST /plants HTTP/1.1\r\n${bearer}Transfer-Encoding: chunked\r\n\r\n${chunks}`,
    ),
  })
  // 16 s where chunks are kept and read all at once.
  expect(await createFor(3_000, server)).toBeLessThan(LONGEST_MS)
  memory.stop()
  expect(memory.largest - before).toBeLessThan(100)
})

test('a burst of 90,000 pipelined requests without a token holds up no create', async () => {
  const server = await start({})
  // So that its token is one that the server has met, which is let in past the strangers.
  await createFor(100, server)
  const bytes = Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(9_000))
  await hold(server, { connections: 10, bytes })
  // 4.5 s where all are parsed and answered as they come.
  expect(await createFor(3_000, server)).toBeLessThan(LONGEST_MS)
})
