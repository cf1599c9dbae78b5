import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { startServerProcess } from '../../../../test/server-process.ts'
import { holdConnections } from './held.ts'

/** Connections that may linger at a time, as documented in docs/interface.md. */
const LINGERING_LIMIT = 256

const WHOLE_RESPONSE = /^HTTP\/1\.1 401 .*"message":"the token is not valid"\}$/s

const chunked = 'Transfer-Encoding: chunked'
const aChunk = '1\r\nx\r\n'

function start(environment: Record<string, string> = {}) {
  return startServerProcess({
    environment: { PLANT_STORE_FAILED_CREDENTIAL_LIMIT: 'off', ...environment },
  })
}

/** Sends the head of a request and leaves its body to the test. */
function callWith({ port }: { readonly port: number }, ...headers: string[]) {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.setEncoding('utf8').on('data', (part) => (text += part))
  // A reset is how the server closes while its caller sends.
  socket.on('error', () => {})
  const lines = ['POST /plants HTTP/1.1', 'Host: x', 'Authorization: Bearer wrong', ...headers]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  const until = (event: string) => new Promise<void>((resolve) => socket.once(event, resolve))
  return {
    socket,
    hasResponse: () => WHOLE_RESPONSE.test(text),
    /** Resolves once the server has ended its sending side. */
    answered: until('end'),
    closed: until('close'),
    /** Sends on, a little at a time, until the connection is closed. */
    async drip(piece: string, pauseMs: number): Promise<void> {
      for (; !socket.destroyed; await sleep(pauseMs)) socket.write(piece)
    },
  }
}

describe('a caller that has its response', () => {
  test('may send the rest of its body in its own time, though it wanted its connection closed', async () => {
    const caller = callWith(await start(), 'Connection: close', 'Content-Length: 60000')
    await caller.answered
    for (let sent = 0; sent < 10; sent++) {
      caller.socket.write(Buffer.alloc(5_000, ' '))
      await sleep(50)
    }
    expect([caller.socket.errored, caller.socket.destroyed]).toEqual([null, false])
    expect(caller.hasResponse()).toBe(true)
  })

  test('is closed after 5 s of silence, or after 30 s of a body without end', {
    timeout: 90_000,
  }, async () => {
    const server = await start({ PLANT_STORE_REQUEST_TIMEOUT_MS: '300000' })
    const began = performance.now()
    const elapsedMs = () => performance.now() - began
    const silent = callWith(server, 'Content-Length: 5242880')
    const endless = callWith(server, chunked)
    const broken = callWith(server, chunked)
    void endless.drip(aChunk, 100)
    void broken.answered.then(() => broken.drip('no chunk', 100))
    // Who has had the end of the other side learns of the close when it sends again.
    await sleep(15_000)
    void silent.drip('x', 100)
    await silent.closed
    expect(elapsedMs()).toBeLessThan(25_000)
    expect([endless.socket.destroyed, broken.socket.destroyed]).toEqual([false, false])
    await Promise.all([endless.closed, broken.closed])
    expect(elapsedMs()).toBeGreaterThan(25_000)
    expect(elapsedMs()).toBeLessThan(60_000)
    for (const { hasResponse } of [silent, endless, broken]) expect(hasResponse()).toBe(true)
  })

  test('does not hold up the end of the server', async () => {
    const server = await start()
    const caller = callWith(server, chunked)
    void caller.drip(aChunk, 20)
    await caller.answered
    const began = performance.now()
    expect((await server.end()).code).toBe(0)
    // Without a sweep: the 7 s that requests in flight have.
    expect(performance.now() - began).toBeLessThan(6_000)
  })
})

test('2,000 callers who send on are 256 at a time, and good ones are served meanwhile', {
  timeout: 90_000,
}, async () => {
  const server = await start({ PLANT_STORE_REQUEST_LIMIT: '300' })
  const create = (id: number) => server.client.createPlant({ id, name: 'Fern' })
  const callers: ReturnType<typeof callWith>[] = []
  while (callers.length < 2_000) {
    const caller = callWith(server, chunked)
    void caller.drip(aChunk, 500)
    if (callers.push(caller) % 50 === 0) await create(callers.length)
  }
  await Promise.all(callers.map(({ answered, closed }) => Promise.race([answered, closed])))
  for (let id = 10_000; id < 10_050; id++) await create(id)
  expect(callers.filter(({ hasResponse }) => hasResponse())).toHaveLength(2_000)
  // A caller learns that its connection was closed when it sends on.
  const countOpen = () => callers.filter(({ socket }) => !socket.destroyed).length
  await vi.waitUntil(() => countOpen() <= LINGERING_LIMIT, { timeout: 15_000, interval: 100 })
  expect(countOpen()).toBeGreaterThan(0)
})

test('256 callers who send on at full speed do not keep good ones waiting', async () => {
  const { port, client } = await start()
  const text = 'POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n'
  await holdConnections({ port, connections: 256, text, sendsOn: true })
  await sleep(3_000)
  const waitedMs: number[] = []
  for (let id = 0; id < 31; id++) {
    const began = performance.now()
    await client.createPlant({ id, name: 'Fern' })
    waitedMs.push(performance.now() - began)
  }
  expect(waitedMs.toSorted((one, other) => one - other)[15]).toBeLessThan(100)
})
