import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Held } from './held.ts'

/** A program that opens connections which send given bytes and read nothing, until its parent ends. */

const AT_ONCE = 100
const PAUSE_MS = 10

process.on('message', async ({ port, connections, text }: Held) => {
  for (let count = 1; count <= connections; count++) {
    const socket = connect({ port, host: '127.0.0.1' }, () => void socket.write(text))
    socket.on('error', () => {}).pause()
    // In groups, so that none is refused because the queue is full.
    if (count % AT_ONCE === 0) await sleep(PAUSE_MS)
  }
  process.send?.('held')
})
process.on('disconnect', () => process.exit())
