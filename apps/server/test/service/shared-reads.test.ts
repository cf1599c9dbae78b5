import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { shareReads } from '../../src/http/shared-reads.ts'

const listening = createServer({ noDelay: true })
const opened: Socket[] = []

afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy()
  listening.close()
})

/** A connection of a caller, and its other end in this process. */
async function openPair(): Promise<{ caller: Socket; accepted: Socket }> {
  if (!listening.listening) await once(listening.listen(0, '127.0.0.1'), 'listening')
  const accept = once(listening, 'connection')
  const caller = connect((listening.address() as AddressInfo).port, '127.0.0.1')
  caller.setNoDelay()
  const [accepted] = (await accept) as [Socket]
  opened.push(caller, accepted)
  return { caller, accepted }
}

test('this Node.js has what reads into one buffer need', async () => {
  const buffers = []
  for (let index = 0; index < 2; index++) {
    const { caller, accepted } = await openPair()
    shareReads(accepted)
    caller.write('plant')
    const [bytes] = (await once(accepted, 'data')) as [Buffer]
    expect(bytes.toString()).toBe('plant')
    buffers.push(bytes.buffer)
  }
  expect(buffers[0]).toBe(buffers[1])
})

test('what arrives while a connection is paused comes later, in order and unchanged', async () => {
  const { caller, accepted } = await openPair()
  const other = await openPair()
  shareReads(accepted)
  shareReads(other.accepted)
  let received = ''
  accepted.on('data', (bytes: Buffer) => {
    received += bytes
    if (received.length === 1) {
      accepted.pause()
      accepted.unshift('b')
    }
  })
  caller.write('a')
  await expect.poll(() => accepted.isPaused()).toBe(true)
  caller.write('c')
  // Reads on although the connection is paused, as Node may.
  accepted.read(0)
  await expect.poll(() => accepted.readableLength).toBe(2)
  other.caller.write('overwritten')
  await once(other.accepted, 'data')
  accepted.resume()
  caller.end('d')
  await once(accepted, 'end')
  expect(received).toBe('abcd')
})
