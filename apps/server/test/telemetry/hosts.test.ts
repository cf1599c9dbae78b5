import { describe, expect, test } from 'vitest'
import { type ServerProcess, startServerProcess } from '../process/server-process.ts'
import { openConnection } from '../wire/raw-socket.ts'

/** The reply of the operations listener to a request with these lines. */
async function ask(server: ServerProcess, head: string) {
  const caller = await openConnection(Number(new URL(server.operationsUrl).port))
  caller.send(`${head}\r\n\r\n`)
  const reply = await caller.readReply()
  caller.destroy()
  return reply
}

const REFUSAL = 'Host is not this machine: try localhost'

const PATHS = ['/livez', '/readyz', '/metrics']

const OF_THIS_MACHINE = [
  '127.0.0.1',
  '127.0.0.1:3001',
  '127.1.2.3',
  'localhost',
  'LocalHost:9',
  '[::1]:3001',
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
})

test('a listener that others reach takes any Host: the server cannot know its names', async () => {
  const server = await startServerProcess({ args: ['--operations-listen', '0.0.0.0:0'] })
  const { status } = await ask(server, 'GET /livez HTTP/1.1\r\nhost: plants.internal')
  expect(status).toBe(200)
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
