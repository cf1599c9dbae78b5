import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { expectReply } from '../wire/expectations.ts'
import { useWireServer } from '../wire/harness.ts'
import type { Connection } from '../wire/raw-socket.ts'
import { plantOf, plantText, post, request } from '../wire/request.ts'

const overloaded = { error: 'unavailable', message: /^nothing was stored, try again/ } as const

function good(id: number) {
  return { plant: { name: plantOf(id).name } }
}

describe('of connections beyond the limit', () => {
  const server = useWireServer({ connectionLimit: '2' })

  test('each is closed at once, and the others go on', async () => {
    const [one, other] = [await server.open(), await server.open()]
    await server.quiesce()
    for (let count = 0; count < 5; count++) {
      const refused = await server.open()
      expect(String(await refused.readToEnd())).toBe('')
    }
    for (const [caller, id] of [
      [one, 1],
      [other, 2],
    ] as const) {
      caller.send(post(plantText(id)))
      expectReply(await caller.readReply(), good(id))
    }
    // The operations listener has no such limit.
    expect((await fetch(`http://127.0.0.1:${server.operationsPort}/livez`)).status).toBe(200)
    expect(JSON.stringify(await server.readLog())).not.toContain('"level":50')
  })

  test('one is served once another has ended', async () => {
    const one = await server.open()
    await server.open()
    one.destroy()
    const serves = async () => {
      const next = await server.open()
      next.send(post(plantText(1)))
      return next.readReply().then(
        ({ status }) => status,
        () => 'closed',
      )
    }
    await expect.poll(serves).toBe(200)
  })
})

describe('with at most three requests in flight', () => {
  const server = useWireServer({ requestLimit: '3' })

  test('those of connections that were reset after CONNECT are in flight no more', async () => {
    // Now it knows the token, and goes on to the commit in the turn in which it reads a create.
    await server.expectStoredAndServing([])
    const tunnel = Buffer.from('CONNECT plants.test:443 HTTP/1.1\r\nHost: plants.test\r\n\r\n')
    for (let count = 0; count < 4; count++) {
      const release = await server.database.holdCommits()
      const caller = await server.open()
      caller.send(Buffer.concat([post(plantText(1)), post(plantText(2)), tunnel]))
      await server.quiesce()
      // On a busy machine what it knows may be too old by now; nothing shows when its commit begins.
      await sleep(100)
      caller.reset()
      await server.quiesce()
      release()
      // Nobody gets a reply, and another commit may overtake it.
      await expect.poll(() => server.database.readPlants()).toContainEqual(plantOf(1))
      await server.expectStoredAndServing([plantOf(1)])
    }
  })
})

describe('while two requests are in flight, which are as many as there may be', () => {
  const server = useWireServer({ requestLimit: '2' })

  /** The status of one create on a connection of its own. */
  async function statusOfCreate(id: number): Promise<number> {
    const caller = await server.open()
    caller.send(post(plantText(id)))
    return (await caller.readReply()).status
  }

  /** Two requests whose bodies have not arrived. */
  async function occupy(): Promise<Connection[]> {
    const callers = [await server.open(), await server.open()]
    for (const [index, caller] of callers.entries()) {
      const framing = `Content-Length: ${plantText(index + 1).length}`
      caller.send(request({ framing, body: '', more: ['Expect: 100-continue'] }))
      expect((await caller.readReply()).status).toBe(100)
    }
    expect(await statusOfCreate(9)).toBe(503)
    await server.database.removePlants()
    return callers
  }

  async function finish(callers: readonly Connection[]): Promise<void> {
    for (const [index, caller] of callers.entries()) {
      caller.send(plantText(index + 1))
      expectReply(await caller.readReply(), good(index + 1))
    }
  }

  test('another is answered 503 at once and not stored, and the connection is kept', async () => {
    const callers = await occupy()
    const refused = await server.open()
    refused.send(Buffer.concat([post(plantText(3)), post('{', { authorization: null })]))
    refused.send(request({ line: 'GET /plants HTTP/1.1' }))
    for (let count = 0; count < 3; count++) expectReply(await refused.readReply(), overloaded)
    expect(await server.database.readPlants()).toEqual([])
    await finish(callers)
    // Another event loop may not have seen yet that they are answered.
    const statusOfThird = async () => {
      refused.send(post(plantText(3)))
      return (await refused.readReply()).status
    }
    await expect.poll(statusOfThird).toBe(200)
  })

  async function countRefusals(): Promise<string | undefined> {
    const metrics = await fetch(`http://127.0.0.1:${server.operationsPort}/metrics`)
    return /\{limiter="requests_in_flight"\} (\d+)/.exec(await metrics.text())?.[1]
  }

  test('one whose framing cannot be trusted is answered 400 and closed, and not counted as refused', async () => {
    const callers = await occupy()
    const before = await countRefusals()
    expect(Number(before)).toBeGreaterThan(0)
    const refused = await server.open()
    refused.send(request({ more: ['Host: other.test'] }))
    expectReply(await refused.readReply(), { error: 'malformed_request' })
    await refused.readToEnd()
    expect(await countRefusals()).toBe(before)
    await finish(callers)
  })

  test('one with a body that is not worth waiting for is closed', async () => {
    const callers = await occupy()
    for (const parts of [
      { framing: 'Content-Length: 70000' },
      { framing: 'Content-Length: 40', more: ['Expect: 100-continue'] },
    ]) {
      const refused = await server.open()
      refused.send(request({ ...parts, body: '' }))
      const reply = await refused.readReply()
      expectReply(reply, overloaded)
      expect(reply.headers.get('connection')).toEqual(['close'])
    }
    await finish(callers)
  })

  test('callers that go away while their plants wait make room', async () => {
    const release = await server.database.holdCommits()
    const leaving = [await server.open(), await server.open()]
    for (const caller of leaving) caller.send(Buffer.concat([post(plantText(1)), post('{')]))
    await server.quiesce()
    const probe = await server.open()
    probe.send(post(plantText(2)))
    expectReply(await probe.readReply(), overloaded)
    for (const caller of leaving) caller.reset()
    release()
    await expect.poll(() => statusOfCreate(5)).toBe(200)
    await finish(await occupy())
  })

  test('callers that go away make room, whatever they had sent', async () => {
    for (const leave of ['reset', 'destroy', 'finish'] as const) {
      const body = plantText(1)
      const begun = request({ framing: `Content-Length: ${body.length}`, body: body.slice(0, 5) })
      for (const sent of [begun, Buffer.concat([post(body), begun]), post(body), post('{')]) {
        const callers = [await server.open(), await server.open(), await server.open()]
        for (const caller of callers) caller.send(sent)
        for (const caller of callers) caller[leave]()
      }
    }
    await expect.poll(() => statusOfCreate(5)).toBe(200)
    await finish(await occupy())
  })
})
