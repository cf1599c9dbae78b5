import { describe, expect, test } from 'vitest'
import { expectReply } from './expectations.ts'
import { useWireServer } from './harness.ts'
import type { Connection } from './raw-socket.ts'

const malformed = { error: 'malformed_request' } as const

const server = useWireServer()

/** Targets whose authority is no host; Node's url.parse throws on the first eight. */
const targets = [
  'http://[',
  'http://[/',
  'http://[/plants',
  'http://[::1/plants',
  'http://a]b/plants',
  'http://[fe80::1%25lo]/plants',
  'http://[v1.a]/livez',
  'http://a^b/livez',
  'http://@/plants',
  'http://:80/plants',
  'http://?x',
  'http://a@b/plants',
  'http://a:b@c/livez',
  'http://a:b/livez',
]

describe.each(['service', 'operations'] as const)('on the listener of the %s', (listener) => {
  function open(): Promise<Connection> {
    return server.open(listener === 'service' ? server.port : server.operationsPort)
  }

  async function expectRefusal(...bytes: string[]): Promise<void> {
    const caller = await open()
    for (const part of bytes) caller.send(part)
    const reply = await caller.readReply()
    expectReply(reply, malformed)
    expect(reply.headers.get('connection')).toEqual(['close'])
    caller.finish()
    expect(String(await caller.readToEnd())).toBe('')
  }

  test.each(targets)('%s is refused', async (target) => {
    await expectRefusal(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`)
  })

  test.each(targets)('%s is refused before a body that never comes', async (target) => {
    await expectRefusal(`POST ${target} HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n`)
  })

  test.each(targets)('%s with a broken chunk is refused once', async (target) => {
    const head = `POST ${target} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`
    await expectRefusal(`${head}zz\r\n`)
    await server.expectStoredAndServing([])
  })

  test('one whose caller goes away before its body came leaves the server serving', async () => {
    const caller = await open()
    caller.send('POST http://[/plants HTTP/1.1\r\nHost: a\r\nContent-Length: 70000\r\n\r\n')
    caller.finish()
    expectReply(await caller.readReply(), malformed)
    caller.reset()
    await server.expectStoredAndServing([])
  })

  test('one that never had its turn is refused in its turn', async () => {
    const caller = await open()
    const good = `GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n`
    const bad = 'POST http://[/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'
    caller.send(good + bad)
    expect([401, 404]).toContain((await caller.readReply()).status)
    expectReply(await caller.readReply(), malformed)
    await server.expectStoredAndServing([])
  })
})

test.each(['/livez', '/readyz', '/metrics'])(
  'a broken body is no error of %s, be it answered before or after it was read',
  async (path) => {
    const caller = await server.open(server.operationsPort)
    caller.send(`GET ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`)
    expect([200, 400]).toContain((await caller.readReply()).status)
    await caller.readToEnd()
    expect((await server.readLog()).join('')).not.toContain('"level":"error"')
  },
)

test('a host with escapes, which url.parse refuses, is a host (RFC 3986 §3.2.2)', async () => {
  const caller = await server.open(server.operationsPort)
  caller.send('GET http://%61:/livez?x HTTP/1.1\r\nHost: localhost\r\n\r\n')
  expect((await caller.readReply()).status).toBe(200)
})

test('what was refused is logged by its path alone', async () => {
  const caller = await server.open()
  caller.send('GET http://user:pass@a/there?query HTTP/1.1\r\nHost: a\r\n\r\n')
  await caller.readReply()
  const [line = '{}'] = await server.readLog()
  expect(JSON.parse(line)).toMatchObject({ error: 'malformed_request', path: '/there' })
  expect(line).not.toMatch(/user|pass|query/)
})
