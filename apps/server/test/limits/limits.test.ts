import { describe, expect, test } from 'vitest'
import type { Flags } from '../../src/config/config.ts'
import { type ExpectedReply, expectReply, malformed, stored } from '../wire/expectations.ts'
import { useWireServer, type WireServer } from '../wire/harness.ts'
import { type Connection, openConnection } from '../wire/raw-socket.ts'
import { plantText, post, request, withLines } from '../wire/request.ts'

const overloaded = { error: 'unavailable', message: /^nothing was stored, try again/ } as const
const from = (address: string) => [`X-Forwarded-For: ${address}`]

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
  readonly next?: Buffer
  readonly response?: ExpectedReply
  /** Whether another caller is served meanwhile, which comes from another address or sends this. */
  readonly other?: { readonly localAddress?: string; readonly sent?: Buffer }
}

const rows: readonly Row[] = [
  { limit: 'of connections', settings: { connectionLimit: '2' } },
  {
    limit: 'of connections of one address',
    settings: { addressLimit: '2' },
    other: { localAddress: '127.0.0.2' },
  },
  {
    limit: 'of requests that a trusted proxy forwards for one address',
    settings: { addressLimit: '2', trustedProxies: '127.0.0.1' },
    held: (id) => begun(id, from('192.0.2.1')),
    next: post(plantText(3), { more: from('192.0.2.1') }),
    response: { error: 'too_many_requests' },
    other: { sent: post(plantText(4), { more: from('192.0.2.2') }) },
  },
  {
    limit: 'of requests in flight',
    settings: { requestLimit: '2' },
    held: begun,
    response: overloaded,
  },
]

async function openTwo(server: WireServer, held: Row['held']): Promise<Connection[]> {
  const callers = [await server.open(), await server.open()]
  for (const [index, caller] of callers.entries()) {
    if (held === undefined) continue
    caller.send(held(index + 1))
    expectReply(await caller.readReply(), 'continue')
  }
  await server.quiesce()
  return callers
}

/** Sends the two plants, or their bodies if that is what is still to come. */
async function finishTwo(callers: readonly Connection[], isBegun = true): Promise<void> {
  for (const [index, caller] of callers.entries()) {
    caller.send(isBegun ? plantText(index + 1) : post(plantText(index + 1)))
    expectReply(await caller.readReply(), stored)
  }
}

describe.each(rows)('beyond the limit $limit', ({ settings, held, response, other, ...row }) => {
  const server = useWireServer(settings)
  const { next = post(plantText(3)) } = row

  test('one more is refused at once, whoever else is there is served, and it is once there is room', async () => {
    const callers = await openTwo(server, held)
    for (let count = 0; count < 3; count++) {
      const refused = await server.open()
      refused.send(next)
      if (response === undefined) expect(String(await refused.readToEnd())).toBe('')
      else expectReply(await refused.readReply(), response)
    }
    if (other !== undefined) {
      const caller = await openConnection(server.port, other.localAddress)
      caller.send(other.sent ?? post(plantText(4)))
      expectReply(await caller.readReply(), stored)
      caller.destroy()
    }
    // The operations listener has no such limit.
    expect((await fetch(`http://127.0.0.1:${server.operationsPort}/livez`)).status).toBe(200)
    await finishTwo(callers, held !== undefined)
    callers[0]?.destroy()
    const statusOfNext = () =>
      server.ask(next).then(
        ({ status }) => status,
        () => undefined,
      )
    await expect.poll(statusOfNext).toBe(200)
  })
})

describe('while two requests are in flight, which are as many as there may be', () => {
  const server = useWireServer({ requestLimit: '2' })

  const statusOfCreate = async (id: number) => (await server.ask(post(plantText(id)))).status

  /** Two requests whose bodies have not arrived. */
  async function occupy(): Promise<readonly Connection[]> {
    const callers = await openTwo(server, begun)
    expect(await statusOfCreate(9)).toBe(503)
    await server.database.removePlants()
    return callers
  }

  async function countRefusals(): Promise<number> {
    const metrics = await fetch(`http://127.0.0.1:${server.operationsPort}/metrics`)
    return Number(/\{limiter="requests_in_flight"\} (\d+)/.exec(await metrics.text())?.[1])
  }

  test('others are answered in turn on one connection, and none is stored', async () => {
    const callers = await occupy()
    const refused = await server.open()
    // Their credential is not looked at either.
    refused.send(Buffer.concat([post(plantText(3)), post('{', { authorization: null })]))
    refused.send(request({ line: 'GET /plants HTTP/1.1' }))
    for (let count = 0; count < 3; count++) expectReply(await refused.readReply(), overloaded)
    expect(await server.database.readPlants()).toEqual([])
    await finishTwo(callers)
  })

  test('one whose framing cannot be trusted is answered 400 and closed, and not counted as refused', async () => {
    const callers = await occupy()
    const before = await countRefusals()
    expect(before).toBeGreaterThan(0)
    const refused = await server.open()
    refused.send(withLines('Host: other.test'))
    expectReply(await refused.readReply(), malformed)
    await refused.readToEnd()
    expect(await countRefusals()).toBe(before)
    await finishTwo(callers)
  })

  test.each([
    { framing: 'Content-Length: 70000' },
    { framing: 'Content-Length: 40', more: ['Expect: 100-continue'] },
  ])('one with a body that is not worth waiting for is closed: $framing', async (parts) => {
    const callers = await occupy()
    const response = await server.ask(request({ ...parts, body: '' }))
    expectReply(response, overloaded)
    expect(response.headers.get('connection')).toEqual(['close'])
    await finishTwo(callers)
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
    const cut = post(plantText(1)).subarray(0, -5)
    for (const leave of ['reset', 'destroy', 'finish'] as const) {
      for (const sent of [cut, Buffer.concat([post(plantText(1)), cut]), post('{')]) {
        const callers = [await server.open(), await server.open(), await server.open()]
        for (const caller of callers) caller.send(sent)
        for (const caller of callers) caller[leave]()
      }
    }
    await expect.poll(() => statusOfCreate(5)).toBe(200)
    await finishTwo(await occupy())
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
    await finishTwo(await occupy())
  })
})
