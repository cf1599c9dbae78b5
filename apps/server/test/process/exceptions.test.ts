import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'
import { openConnection } from '../wire/raw-socket.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'

const body = '{"id":1,"name":"Fern"}'

/** A create, whose fault is named in a header; without a token where that is undefined. */
function create(fault: string, token: string | undefined, more = ''): string {
  const authorization = token === undefined ? '' : `authorization: Bearer ${token}\r\n`
  return (
    `POST /plants HTTP/1.1\r\nhost: x\r\nx-fault: ${fault}\r\n${authorization}${more}` +
    `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  )
}

let server: ServerProcess
let port: number

async function startWith(nodeFlags: string[]): Promise<void> {
  server = await startServerProcess({
    folder: temporaryFolder(),
    nodeFlags,
    environment: { PLANT_STORE_HEADERS_TIMEOUT_MS: '200', PLANT_STORE_REQUEST_TIMEOUT_MS: '400' },
  })
  port = Number(new URL(server.url).port)
}

/** Sends bytes, one part after the other, at whose end that of their connection comes. */
async function expectOneConnectionLost(sent: string | string[], onPort = port): Promise<void> {
  const neighbour = await openConnection(port)
  neighbour.send(create('none', server.token))
  await neighbour.readReply()
  const caller = await openConnection(onPort)
  for (const part of [sent].flat()) {
    caller.send(part)
    // Nothing tells that the server has read it.
    await sleep(50)
  }
  await caller.readToEnd()
  neighbour.send(create('none', server.token))
  expect((await neighbour.readReply()).status).toBe(200)
  neighbour.destroy()
}

async function expectContained(): Promise<void> {
  await server.client.createPlant({ id: 2, name: 'Moss' })
  server.kill('SIGTERM')
  const { code, err } = await server.ended
  expect(code).toBe(0)
  expect(err).not.toContain('"level":"fatal"')
}

const isNamed = (where: string, message: string) =>
  server.untilLogged(`"message":"${message}"`).then(() => server.untilLogged(`"where":"${where}"`))

describe('an exception ends at most its connection, and the log names it, where it is thrown by', () => {
  beforeEach(() => startWith(['--import', join(import.meta.dirname, 'inject-faults.ts')]))

  test('the access to the headers of a request', async () => {
    await expectOneConnectionLost(create('headers', server.token))
    await isNamed('read', 'injected: headers')
    await expectContained()
  })

  test('what is before the app, for a request whose turn comes later', async () => {
    const first = create('none', server.token)
    const second = create('locals', server.token)
    await expectOneConnectionLost([first.slice(0, -1), first.slice(-1) + second])
    await isNamed('next request', 'injected: locals')
    await expectContained()
  })

  test('the reply to a create', async () => {
    await expectOneConnectionLost(create('answer', server.token))
    await isNamed('answer', 'injected: answer')
    await expectContained()
  })

  test('the end of a reply', async () => {
    await expectOneConnectionLost(create('end of reply', server.token))
    await expectContained()
  })

  test('the reply to a request without a token, which is told later', async () => {
    await expectOneConnectionLost(create('answer', undefined))
    await expectContained()
  })

  test('the reply to a request that is late', async () => {
    await expectOneConnectionLost(create('answer', server.token).slice(0, -5))
    await expectContained()
  })

  test('the reply to bytes that are no request', async () => {
    await expectOneConnectionLost('garbage\r\n\r\n')
    await isNamed('refusal', 'injected: raw answer')
    await expectContained()
  })

  test.each(['body', 'end of body'])('the %s', async (fault) => {
    await expectOneConnectionLost(create(fault, server.token))
    await isNamed('read', `injected: ${fault}`)
    await expectContained()
  })

  test('the operations listener', async () => {
    const operations = Number(new URL(server.operationsUrl).port)
    const get = 'GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\nx-fault: headers\r\n\r\n'
    await expectOneConnectionLost(get, operations)
    await isNamed('read', 'injected: headers')
    await expectContained()
  })
})

test('what nothing contains ends the process with 1, and the log names it', async () => {
  const script = "process.on('SIGHUP', () => { throw new Error('injected: nowhere') })"
  await startWith(['--import', `data:text/javascript,${encodeURIComponent(script)}`])
  server.kill('SIGHUP')
  const { code, err } = await server.ended
  expect(code).toBe(1)
  expect(err).toMatch(/"level":"fatal".*injected: nowhere.*"stopped by an exception"/)
})
