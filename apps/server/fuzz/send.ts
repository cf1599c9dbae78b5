import { connect, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { findWrongReply } from './answers.ts'
import { type Input, toBytes } from './inputs.ts'
import type { Target } from './target.ts'

/** How long a connection that is left open is left so. */
const LEAVE_MS = 5

interface Caller {
  readonly socket: Socket
  received(): Buffer
  /** Resolves once the connection is over, however that came. */
  readonly over: Promise<unknown>
}

let calls = 0

/** Another address for each of many calls, because limits count by address; Linux has them all. */
function nextAddress(): string {
  return process.platform === 'linux' ? `127.0.1.${1 + (calls++ % 250)}` : '127.0.0.1'
}

function call(port: number): Caller {
  const options = { host: '127.0.0.1', localAddress: nextAddress(), port }
  const socket = connect({ ...options, allowHalfOpen: true, noDelay: true })
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk))
  // Connections are refused, cut and reset here all the time; what that means is judged elsewhere.
  socket.on('error', () => {})
  // Once the server has ended its side there is nothing to wait for.
  socket.on('end', () => void socket.resetAndDestroy())
  const over = new Promise((resolve) => void socket.once('close', resolve))
  return { socket, received: () => Buffer.concat(chunks), over }
}

/** Resolves with what is wrong; with undefined once the connection is over and all was well. */
async function finish({ socket, over }: Caller, patienceMs: number): Promise<string | undefined> {
  socket.end()
  const { promise, resolve } = Promise.withResolvers<string>()
  const timer = setTimeout(() => resolve('no reply and no end'), patienceMs)
  const stalled = await Promise.race([promise, over.then(() => undefined)])
  clearTimeout(timer)
  socket.destroy()
  return stalled
}

/**
 * Sends an input over a connection of its own, and gives what was wrong with the replies: that is
 * also when one is owed for longer than the patience.
 */
export async function send(
  input: Input,
  { ports, token }: Target,
  patienceMs: number,
): Promise<string | undefined> {
  const caller = call(ports[input.listener])
  for (const [index, packet] of input.packets.entries()) {
    if (index > 0) await nextTurn()
    caller.socket.write(toBytes(packet, token))
  }
  let stalled: string | undefined
  if (input.ending === 'finish') stalled = await finish(caller, patienceMs)
  else {
    if (input.ending === 'leave') await new Promise((resolve) => setTimeout(resolve, LEAVE_MS))
    caller.socket.resetAndDestroy()
    await caller.over
  }
  const hasHead = input.packets.join('').includes('HEAD')
  return findWrongReply(caller.received(), hasHead) ?? stalled
}

/** Creates a plant as any caller does, and gives what was wrong with that. */
export async function createGoodPlant(
  { ports, token }: Target,
  patienceMs: number,
): Promise<string | undefined> {
  try {
    const reply = await fetch(`http://127.0.0.1:${ports.service}/plants`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"id":7,"name":"Moss"}',
      signal: AbortSignal.timeout(patienceMs),
    })
    const text = await reply.text()
    return reply.status === 200 && text === '{"name":"Moss"}'
      ? undefined
      : `a good create is answered ${reply.status} ${text}`
  } catch (error) {
    return `a good create fails: ${(error as Error).cause ?? error}`
  }
}
