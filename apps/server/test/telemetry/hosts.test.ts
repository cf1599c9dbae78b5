import { networkInterfaces } from 'node:os'
import { describe, expect, test } from 'vitest'
import { type ServerProcess, startServerProcess } from '../process/server-process.ts'
import { openConnection } from '../wire/raw-socket.ts'

/** The reply of the operations listener to a request with these lines. */
async function ask(server: ServerProcess, head: string, address = '127.0.0.1') {
  const caller = await openConnection(Number(new URL(server.operationsUrl).port), address)
  caller.send(`${head}\r\n\r\n`)
  const reply = await caller.readReply()
  caller.destroy()
  return reply
}

const REFUSAL =
  'Host is not a name of this listener; PLANT_STORE_OPERATIONS_HOSTS allows more names'

const PATHS = ['/livez', '/readyz', '/metrics']

const OF_THIS_MACHINE = [
  '127.0.0.1',
  '127.0.0.1:3001',
  '127.1.2.3',
  'localhost',
  'LocalHost:9',
  '[::1]:3001',
  '[0:0:0:0:0:0:0:1]',
  '0.0.0.0:3001',
]

const FOREIGN = [
  'attacker.example',
  'attacker.example:3001',
  'localhost.attacker.example',
  '127.0.0.1.attacker.example',
  'localhost.',
  '10.11.12.13',
  '[fe80::1]',
  '%6cocalhost',
  '2130706433',
]

describe('the operations listener answers a Host that is its own:', () => {
  test('a loopback address or localhost, with any port, or none in HTTP/1.0, which no browser speaks', async () => {
    const server = await startServerProcess()
    for (const host of OF_THIS_MACHINE) {
      for (const path of PATHS) {
        const { status } = await ask(server, `GET ${path} HTTP/1.1\r\nhost: ${host}`)
        expect({ host, path, status }).toEqual({ host, path, status: 200 })
      }
    }
    expect((await ask(server, 'GET /livez HTTP/1.0')).status).toBe(200)
  })

  test('the address that the connection came in on, and no other one', async () => {
    const addresses = Object.values(networkInterfaces())
      .flat()
      .filter((found) => found?.internal === false && found.family === 'IPv4')
    const own = addresses[0]?.address
    if (own === undefined) return
    const server = await startServerProcess({ args: ['--operations-listen', '0.0.0.0:0'] })
    expect((await ask(server, `GET /livez HTTP/1.1\r\nhost: ${own}:1`, own)).status).toBe(200)
    expect((await ask(server, `GET /livez HTTP/1.1\r\nhost: ${own}:1`)).status).toBe(400)
  })

  test('listed ones, in either case', async () => {
    const args = ['--operations-hosts', 'Server1, plants.internal,fd00::1']
    const server = await startServerProcess({ args })
    for (const host of ['server1:3001', 'PLANTS.internal', '[fd00:0::1]:3001']) {
      expect((await ask(server, `GET /metrics HTTP/1.1\r\nhost: ${host}`)).status).toBe(200)
    }
    expect((await ask(server, 'GET /metrics HTTP/1.1\r\nhost: server2')).status).toBe(400)
  })
})

describe('the operations listener refuses a Host', () => {
  test('to which a name was bent, with an Error body, while the service answers it', async () => {
    const server = await startServerProcess()
    for (const host of FOREIGN) {
      for (const path of [...PATHS, '/none']) {
        const { status, body } = await ask(server, `GET ${path} HTTP/1.1\r\nhost: ${host}`)
        expect({ host, path, status }).toEqual({ host, path, status: 400 })
        expect(JSON.parse(body)).toEqual({ error: 40_000, message: REFUSAL })
      }
    }
    const caller = await openConnection(server.port)
    caller.send('GET /openapi.json HTTP/1.1\r\nhost: attacker.example\r\n\r\n')
    expect((await caller.readReply()).status).toBe(200)
    caller.destroy()
  })
})
