import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { useWireServer } from './harness.ts'
import { plantText, post, request } from './request.ts'
import { startInProcess } from './start-in-process.ts'

// In this process, whose garbage a test can have collected and look at.
const server = useWireServer({}, { start: startInProcess })

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** Every request from now to the end of the test, unless it was collected. */
function watchRequests(): readonly WeakRef<IncomingMessage>[] {
  const requests: WeakRef<IncomingMessage>[] = []
  const onRequest = (message: unknown) =>
    void requests.push(new WeakRef((message as { request: IncomingMessage }).request))
  subscribe('http.server.request.start', onRequest)
  onTestFinished(() => void unsubscribe('http.server.request.start', onRequest))
  return requests
}

test.each<[claim: string, ...sent: Buffer[]]>([
  ['a plant', post(plantText(1))],
  ['what is no JSON', post('{')],
  ['another path', request({ line: 'POST / HTTP/1.1' })],
  ['a wrong credential', request({ authorization: 'Bearer x' })],
  ['two plants at once', post(plantText(1)), post(plantText(2))],
])('a connection that waits after %s holds nothing of the request', async (_claim, ...sent) => {
  const requests = watchRequests()
  const caller = await server.open()
  caller.send(Buffer.concat(sent))
  for (const _ of sent) await caller.readReply()
  expect(requests).toHaveLength(sent.length)
  const held = () => {
    collectGarbage()
    return requests.filter((one) => one.deref() !== undefined).length
  }
  await expect.poll(held, { timeout: 10_000 }).toBe(0)
})
