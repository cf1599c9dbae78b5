import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startServerProcess } from '../../../../test/server-process.ts'
import { openConnection } from '../wire/raw-socket.ts'
import { request } from '../wire/request.ts'

/** A create that names its fault in a header; without a token where that is undefined. */
function create(fault: string, token: string | undefined, ...more: string[]): string {
  const authorization = token === undefined ? null : `Bearer ${token}`
  return String(request({ authorization, more: [`x-fault: ${fault}`, ...more] }))
}

function startWith(imported: string) {
  return startServerProcess({
    nodeFlags: ['--import', imported],
    environment: { PLANT_STORE_REQUEST_TIMEOUT_MS: '1000' },
  })
}

/** A request whose second part is sent when the server asks for the rest of its body. */
function pipelined(token: string): string[] {
  const first = create('none', token, 'expect: 100-continue')
  return [first.slice(0, -1), first.slice(-1) + create('locals', token)]
}

const OPERATIONS = 'GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\nx-fault: headers\r\n\r\n'

/** Where an exception is thrown, what makes it so, and where the log says that it was, if it does. */
test.each<[where: string, send: (token: string) => string | string[], logged: string[]]>([
  [
    'the access to the headers of a request',
    (token) => create('headers', token),
    ['read', 'headers'],
  ],
  [
    'what is before the app, for a request whose turn comes later',
    pipelined,
    ['next request', 'locals'],
  ],
  ['the response to a create', (token) => create('answer', token), ['answer', 'answer']],
  ['the end of a response', (token) => create('end of response', token), []],
  ['the deferred response to a request without a token', () => create('answer', undefined), []],
  ['the response to a late request', (token) => create('answer', token).slice(0, -5), []],
  ['the response to what is no request', () => 'garbage\r\n\r\n', ['refusal', 'raw answer']],
  ['the body', (token) => create('body', token), ['read', 'body']],
  ['the end of body', (token) => create('end of body', token), ['read', 'end of body']],
  ['the operations listener', () => OPERATIONS, ['read', 'headers']],
])(
  'an exception thrown by %s ends at most its connection, and the log names it',
  async (...row) => {
    const [thrownBy, send, [where, message]] = row
    const server = await startWith(join(import.meta.dirname, 'inject-faults.ts'))
    const { token, operationsUrl } = server
    const isService = thrownBy !== 'the operations listener'
    const neighbour = await openConnection(server.port)
    neighbour.send(create('none', token))
    await neighbour.readReply()
    const caller = await openConnection(
      isService ? server.port : Number(new URL(operationsUrl).port),
    )
    for (const [index, part] of [send(token)].flat().entries()) {
      if (index > 0) expect((await caller.readReply()).status).toBe(100)
      caller.send(part)
    }
    await caller.readToEnd()
    neighbour.send(create('none', token))
    expect((await neighbour.readReply()).status).toBe(200)
    neighbour.destroy()
    if (where !== undefined) {
      await server.untilLogged(`"message":"injected: ${message}"`)
      await server.untilLogged(`"where":"${where}"`)
    }
    await server.client.createPlant({ id: 2, name: 'Moss' })
    const { code, err } = await server.end()
    expect(code).toBe(0)
    expect(err).not.toContain('"level":"fatal"')
  },
)

test('what nothing contains ends the process with 1, and the log names it', async () => {
  const script = "process.on('SIGHUP', () => { throw new Error('injected: nowhere') })"
  const server = await startWith(`data:text/javascript,${encodeURIComponent(script)}`)
  const { code, err } = await server.end('SIGHUP')
  expect(code).toBe(1)
  expect(err).toMatch(/"level":"fatal".*injected: nowhere.*"stopped by an exception"/)
})
