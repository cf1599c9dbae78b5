import { describe, expect, test } from 'vitest'
import { expectReply } from './expectations.ts'
import { useWireServer } from './harness.ts'
import { plantOf, plantText, post } from './request.ts'

const server = useWireServer()

const body = plantText(1)

// Node's parser drops what follows such a request in one packet, on every version.
describe('an Upgrade is ignored, and the reply is the last on its connection:', () => {
  const upgrade = ['Connection: Upgrade', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk']
  const follower = post(plantText(2))

  test.each<[claim: string, more: string[]]>([
    ['to a web socket', ['Connection: Upgrade', 'Upgrade: websocket']],
    ['to h2c', upgrade],
    ['without Connection', ['Upgrade: h2c']],
  ])('%s', (_claim, more) => server.accepts(post(body, { more }), plantOf(1), 'closed'))

  test.each<[claim: string, length: number]>([
    ['whole', follower.length],
    ['in part', 30],
  ])('with another request %s in its packet', async (_claim, length) => {
    const caller = await server.open()
    const release = await server.database.holdCommits()
    caller.send(Buffer.concat([post(body, { more: upgrade }), follower.subarray(0, length)]))
    caller.send(follower.subarray(length))
    release()
    const reply = await caller.readReply()
    expectReply(reply, { plant: { name: plantOf(1).name } })
    expect(reply.headers.get('connection')).toEqual(['close'])
    expect(String(await caller.readToEnd())).toBe('')
    await server.expectStoredAndServing([plantOf(1)])
  })

  test('with an expectation and another request', () =>
    server.check({
      sent: Buffer.concat([post(body, { more: [...upgrade, 'Expect: 100-continue'] }), follower]),
      replies: ['continue', { plant: { name: plantOf(1).name } }],
      stored: [plantOf(1)],
      connection: 'closed',
    }))

  test('a refused one too', () =>
    server.check({
      sent: Buffer.concat([post(body, { more: upgrade, authorization: null }), follower]),
      replies: [{ error: 'missing_credentials' }],
      connection: 'closed',
    }))

  test('the public page of the document too', async () => {
    const caller = await server.open()
    caller.send(`GET /openapi.json HTTP/1.1\r\nHost: a\r\n${upgrade.join('\r\n')}\r\n\r\n`)
    expect((await caller.readReply()).headers.get('connection')).toEqual(['close'])
    expect(String(await caller.readToEnd())).toBe('')
  })
})
