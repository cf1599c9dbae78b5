import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ServerProcess, startServerProcess } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const LIMIT = 3

function start(environment: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
  return startServerProcess({
    folder: temporaryFolder(),
    environment: { PLANT_STORE_ADDRESS_LIMIT: String(LIMIT), ...environment },
  })
}

async function open({ url }: ServerProcess, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** A connection is there for its caller before the server has taken it, and so in any order. */
async function openInTurn(server: ServerProcess, count: number): Promise<Socket[]> {
  const sockets: Socket[] = []
  const taken = async () => {
    const metrics = await (await fetch(`${server.operationsUrl}/metrics`)).text()
    return Number(/^plant_store_connections (\d+)$/m.exec(metrics)?.[1])
  }
  while (sockets.length < count) {
    sockets.push(await open(server))
    await expect.poll(taken, { interval: 5 }).toBe(sockets.length)
  }
  return sockets
}

const body = '{"id":1,"name":"Fern"}'

/** A create from an address that a proxy names, without the last byte of its body. */
function unfinished(token: string, forwardedFor: string): string {
  return (
    `POST /plants HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n` +
    `x-forwarded-for: ${forwardedFor}\r\ncontent-type: application/json\r\n` +
    `content-length: ${body.length}\r\n\r\n${body.slice(0, -1)}`
  )
}

async function statusOf(socket: Socket): Promise<number> {
  const [reply] = await once(socket, 'data')
  return Number(/^HTTP\/1\.1 (\d+)/.exec(String(reply))?.[1])
}

describe('of the connections of one address', () => {
  test('one beyond the limit is closed at once, and those of another address are served', async () => {
    const server = await start()
    const held = await openInTurn(server, LIMIT)
    const refused = await open(server)
    await once(refused.resume(), 'close')
    const other = await open(server, '127.0.0.2')
    for (const socket of [...held, other]) {
      socket.write(`${unfinished(server.token, 'x')}}`)
      expect(await statusOf(socket)).toBe(200)
    }
    await server.untilLogged('"address_connections":1')
  })

  test('one is served once another has ended', async () => {
    const server = await start()
    const held = [await open(server), await open(server), await open(server)]
    held[0]?.destroy()
    const serves = async () => {
      const socket = await open(server)
      socket.write(`${unfinished(server.token, 'x')}}`)
      return Promise.race([statusOf(socket), once(socket, 'close').then(() => 'closed')])
    }
    await expect.poll(serves).toBe(200)
  })
})

test('a trusted proxy may open any number, and each address that it forwards has as many requests', async () => {
  const server = await start({ PLANT_STORE_TRUSTED_PROXIES: '127.0.0.1' })
  const held: Socket[] = []
  for (let count = 0; count < LIMIT; count++) {
    const socket = await open(server)
    socket.write(unfinished(server.token, '192.0.2.1'))
    held.push(socket)
  }
  const refused = await open(server)
  await expect
    .poll(async () => {
      refused.write(`${unfinished(server.token, '192.0.2.1')}}`)
      return statusOf(refused)
    })
    .toBe(429)
  const other = await open(server)
  other.write(`${unfinished(server.token, '192.0.2.2')}}`)
  expect(await statusOf(other)).toBe(200)
  for (const socket of held) {
    socket.write('}')
    expect(await statusOf(socket)).toBe(200)
  }
  refused.write(`${unfinished(server.token, '192.0.2.1')}}`)
  expect(await statusOf(refused)).toBe(200)
})

test('by default a network of 200 people with five connections each is served', async () => {
  const server = await startServerProcess({ folder: temporaryFolder() })
  const sockets: Socket[] = []
  for (let count = 0; count < 1_000; count++) sockets.push(await open(server))
  while (sockets.length > 0) {
    const some = sockets.splice(0, 50)
    for (const socket of some) socket.write(`${unfinished(server.token, 'x')}}`)
    expect(new Set(await Promise.all(some.map(statusOf)))).toEqual(new Set([200]))
  }
})
