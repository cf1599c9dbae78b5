import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openConnection } from '../wire/raw-socket.ts'
import { request } from '../wire/request.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'

/** A create that names its fault in a header; without a token where that is undefined. */
function create(fault: string, token: string | undefined, ...more: string[]): string {
  const authorization = token === undefined ? null : `Bearer ${token}`
  return String(request({ authorization, more: [`x-fault: ${fault}`, ...more] }))
}

function startWith(imported: string): Promise<ServerProcess> {
  return startServerProcess({
    nodeFlags: ['--import', imported],
    environment: { PLANT_STORE_REQUEST_TIMEOUT_MS: '1000' },
  })
}

/** Sends the parts one after the other; the server must close this connection and serve another. */
async function expectOneConnectionLost(server: ServerProcess, parts: string[], port: number) {
  const neighbour = await openConnection(server.port)
  neighbour.send(create('none', server.token))
  await neighbour.readReply()
  const caller = await openConnection(port)
  for (const [index, part] of parts.entries()) {
    // The server has read what was sent when it asks for the rest of the body.
    if (index > 0) expect((await caller.readReply()).status).toBe(100)
    caller.send(part)
  }
  await caller.readToEnd()
  neighbour.send(create('none', server.token))
  expect((await neighbour.readReply()).status).toBe(200)
  neighbour.destroy()
}

/** Where an exception is thrown, what makes it so, and what the log says of it, if anything. */
type Fault = [
  thrownBy: string,
  send: (token: string) => string | string[],
  where: string | undefined,
  message?: string,
]

const FAULTS: Fault[] = [
  [
    'the access to the headers of a request',
    (token) => create('headers', token),
    'read',
    'headers',
  ],
  [
    'what is before the app, for a request whose turn comes later',
    (token) => {
      const first = create('none', token, 'expect: 100-continue')
      return [first.slice(0, -1), first.slice(-1) + create('locals', token)]
    },
    'next request',
    'locals',
  ],
  ['the reply to a create', (token) => create('answer', token), 'answer', 'answer'],
  ['the end of a reply', (token) => create('end of reply', token), undefined],
  ['the deferred reply to a request without a token', () => create('answer', undefined), undefined],
  [
    'the reply to a request that is late',
    (token) => create('answer', token).slice(0, -5),
    undefined,
  ],
  ['the reply to bytes that are no request', () => 'garbage\r\n\r\n', 'refusal', 'raw answer'],
  ['the body', (token) => create('body', token), 'read', 'body'],
  ['the end of body', (token) => create('end of body', token), 'read', 'end of body'],
  [
    'the operations listener',
    () => 'GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\nx-fault: headers\r\n\r\n',
    'read',
    'headers',
  ],
]

describe('an exception ends at most its connection, and the log names it, where it is thrown by', () => {
  test.each(FAULTS)('%s', async (thrownBy, send, where, message) => {
    const server = await startWith(join(import.meta.dirname, 'inject-faults.ts'))
    const url = thrownBy === 'the operations listener' ? server.operationsUrl : server.url
    await expectOneConnectionLost(server, [send(server.token)].flat(), Number(new URL(url).port))
    if (where !== undefined) {
      await server.untilLogged(`"message":"injected: ${message}"`)
      await server.untilLogged(`"where":"${where}"`)
    }
    await server.client.createPlant({ id: 2, name: 'Moss' })
    const { code, err } = await server.end()
    expect(code).toBe(0)
    expect(err).not.toContain('"level":"fatal"')
  })
})

test('what nothing contains ends the process with 1, and the log names it', async () => {
  const script = "process.on('SIGHUP', () => { throw new Error('injected: nowhere') })"
  const server = await startWith(`data:text/javascript,${encodeURIComponent(script)}`)
  const { code, err } = await server.end('SIGHUP')
  expect(code).toBe(1)
  expect(err).toMatch(/"level":"fatal".*injected: nowhere.*"stopped by an exception"/)
})
