import { describe, expect, test } from 'vitest'
import type { Flags } from '../../src/config/config.ts'
import { type ExpectedReply, expectReply } from '../wire/expectations.ts'
import { useWireServer, type WireServer } from '../wire/harness.ts'
import { type Connection, openConnection } from '../wire/raw-socket.ts'
import { plantOf, plantText, post, request } from '../wire/request.ts'

const overloaded = { error: 'unavailable', message: /^nothing was stored, try again/ } as const
const tooMany = { error: 'too_many_requests' } as const
const withoutToken = request({ authorization: null })
const from = (address: string) => [`X-Forwarded-For: ${address}`]

function stored(id: number): ExpectedReply {
  return { plant: { name: plantOf(id).name } }
}

/** A create whose body is still to come, once the server asks for it. */
function begun(id: number, more: readonly string[] = []): Buffer {
  const framing = `Content-Length: ${plantText(id).length}`
  return request({ framing, body: '', more: ['Expect: 100-continue', ...more] })
}

interface Row {
  readonly limit: string
  readonly settings: Flags
  /** What each of two callers sends, which together are as many as may be; nothing if undefined. */
  readonly held?: (id: number) => Buffer
  /** What one more sends, and gets; it is closed without a word if undefined. */
  readonly next: Buffer
  readonly response?: ExpectedReply
  /** Whether another caller is served meanwhile, which comes from another address or sends this. */
  readonly other?: { readonly localAddress?: string; readonly sent?: Buffer }
}

const rows: readonly Row[] = [
  { limit: 'of connections', settings: { connectionLimit: '2' }, next: post(plantText(3)) },
  {
    limit: 'of connections of one address',
    settings: { addressLimit: '2' },
    next: post(plantText(3)),
    other: { localAddress: '127.0.0.2' },
  },
  {
    limit: 'of requests that a trusted proxy forwards for one address',
    settings: { addressLimit: '2', trustedProxies: '127.0.0.1' },
    held: (id) => begun(id, from('192.0.2.1')),
    next: post(plantText(3), { more: from('192.0.2.1') }),
    response: tooMany,
    other: { sent: post(plantText(4), { more: from('192.0.2.2') }) },
  },
  {
    limit: 'of requests in flight',
    settings: { requestLimit: '2' },
    held: begun,
    next: post(plantText(3)),
    response: overloaded,
  },
]

async function openRow(
  server: WireServer,
  held: Row['held'],
): Promise<readonly [Connection, Connection]> {
  const callers = [await server.open(), await server.open()] as const
  for (const [index, caller] of callers.entries()) {
    if (held === undefined) continue
    caller.send(held(index + 1))
    expectReply(await caller.readReply(), 'continue')
  }
  await server.quiesce()
  return callers
}

describe.each(rows)('beyond the limit $limit', ({ settings, held, next, response, other }) => {
  const server = useWireServer(settings)

  test('one more is refused at once, whoever else is there is served, and it is once there is room', async () => {
    const callers = await openRow(server, held)
    for (let count = 0; count < 3; count++) {
      const refused = await server.open()
      refused.send(next)
      if (response === undefined) expect(String(await refused.readToEnd())).toBe('')
      else expectReply(await refused.readReply(), response)
    }
    if (other !== undefined) {
      const caller = await openConnection(server.port, '127.0.0.1', other.localAddress)
      caller.send(other.sent ?? post(plantText(4)))
      expectReply(await caller.readReply(), stored(4))
      caller.destroy()
    }
    // The operations listener has no such limit.
    expect((await fetch(`http://127.0.0.1:${server.operationsPort}/livez`)).status).toBe(200)
    for (const [index, caller] of callers.entries()) {
      caller.send(held === undefined ? post(plantText(index + 1)) : plantText(index + 1))
      expectReply(await caller.readReply(), stored(index + 1))
    }
    callers[0].destroy()
    const statusOfNext = async () => {
      const caller = await server.open()
      caller.send(next)
      return (await caller.readReply().catch(() => undefined))?.status
    }
    await expect.poll(statusOfNext).toBe(200)
  })
})

describe('while two requests are in flight, which are as many as there may be', () => {
  const server = useWireServer({ requestLimit: '2' })

  const statusOfCreate = async (id: number) => {
    const caller = await server.open()
    caller.send(post(plantText(id)))
    return (await caller.readReply()).status
  }

  /** Two requests whose bodies have not arrived, and how to end them. */
  async function occupy(): Promise<() => Promise<void>> {
    const callers = await openRow(server, begun)
    expect(await statusOfCreate(9)).toBe(503)
    await server.database.removePlants()
    return async () => {
      for (const [index, caller] of callers.entries()) {
        caller.send(plantText(index + 1))
        expectReply(await caller.readReply(), stored(index + 1))
      }
    }
  }

  async function countRefusals(): Promise<number> {
    const metrics = await fetch(`http://127.0.0.1:${server.operationsPort}/metrics`)
    return Number(/\{limiter="requests_in_flight"\} (\d+)/.exec(await metrics.text())?.[1])
  }

  test('others are answered in turn on one connection, and none is stored', async () => {
    const finish = await occupy()
    const refused = await server.open()
    refused.send(Buffer.concat([post(plantText(3)), post('{', { authorization: null })]))
    refused.send(request({ line: 'GET /plants HTTP/1.1' }))
    for (let count = 0; count < 3; count++) expectReply(await refused.readReply(), overloaded)
    expect(await server.database.readPlants()).toEqual([])
    await finish()
  })

  test('one whose framing cannot be trusted is answered 400 and closed, and not counted as refused', async () => {
    const finish = await occupy()
    const before = await countRefusals()
    expect(before).toBeGreaterThan(0)
    const refused = await server.open()
    refused.send(request({ more: ['Host: other.test'] }))
    expectReply(await refused.readReply(), { error: 'malformed_request' })
    await refused.readToEnd()
    expect(await countRefusals()).toBe(before)
    await finish()
  })

  test.each([
    { framing: 'Content-Length: 70000' },
    { framing: 'Content-Length: 40', more: ['Expect: 100-continue'] },
  ])('one with a body that is not worth waiting for is closed: $framing', async (parts) => {
    const finish = await occupy()
    const refused = await server.open()
    refused.send(request({ ...parts, body: '' }))
    const response = await refused.readReply()
    expectReply(response, overloaded)
    expect(response.headers.get('connection')).toEqual(['close'])
    await finish()
  })

  test('callers that go away make room, while their plants wait and whatever they had sent', async () => {
    const release = await server.database.holdCommits()
    const leaving = [await server.open(), await server.open()]
    for (const caller of leaving) caller.send(Buffer.concat([post(plantText(1)), post('{')]))
    await server.quiesce()
    expect(await statusOfCreate(2)).toBe(503)
    for (const caller of leaving) caller.reset()
    release()
    await expect.poll(() => statusOfCreate(5)).toBe(200)
    for (const leave of ['reset', 'destroy', 'finish'] as const) {
      const cut = post(plantText(1)).subarray(0, -5)
      for (const sent of [cut, Buffer.concat([post(plantText(1)), cut]), post('{')]) {
        const callers = [await server.open(), await server.open(), await server.open()]
        for (const caller of callers) caller.send(sent)
        for (const caller of callers) caller[leave]()
      }
    }
    await expect.poll(() => statusOfCreate(5)).toBe(200)
    await (await occupy())()
  })

  test('those of connections that were reset after CONNECT are in flight no more', async () => {
    const tunnel = Buffer.from('CONNECT plants.test:443 HTTP/1.1\r\nHost: plants.test\r\n\r\n')
    for (let count = 0; count < 3; count++) {
      const release = await server.database.holdCommits()
      const caller = await server.open()
      caller.send(Buffer.concat([post(plantText(1)), post(plantText(2)), tunnel]))
      await server.quiesce()
      caller.reset()
      await server.quiesce()
      release()
      await expect.poll(() => statusOfCreate(5)).toBe(200)
    }
    await (await occupy())()
  })

  test('unauthenticated clients are refused as well, before their credential is looked at', async () => {
    const finish = await occupy()
    const refused = await server.open()
    refused.send(withoutToken)
    expectReply(await refused.readReply(), overloaded)
    await finish()
  })
})
