import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Held } from './held.ts'

/** A program that opens connections which send a text and read nothing, or send on, until its parent ends. */

const AT_ONCE = 100
const PAUSE_MS = 10

const SPACES = Buffer.alloc(65_536, ' ')

function sendOn(socket: Socket): void {
  if (socket.destroyed) return
  if (socket.write(SPACES)) setImmediate(sendOn, socket)
  else socket.once('drain', () => sendOn(socket))
}

process.on('message', async ({ port, connections, text, sendsOn }: Held) => {
  for (let count = 1; count <= connections; count++) {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => {}).pause()
    socket.write(text)
    if (sendsOn) sendOn(socket.resume())
    // In groups, so that none is refused because the queue is full.
    if (count % AT_ONCE === 0) await sleep(PAUSE_MS)
  }
  process.send?.('held')
})
process.on('disconnect', () => process.exit())
