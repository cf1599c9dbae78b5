import { connect, type Socket } from 'node:net'

export interface CallerOptions {
  readonly port: number
  /** Called once for each reply; `latencyMs` since its request was sent. */
  readonly onReply: (caller: Caller, status: number, latencyMs: number) => void
  readonly onEnd: (caller: Caller) => void
}

/** One keep-alive connection with at most one request in flight. */
export interface Caller {
  /** The id of the plant in flight, or of the last one. */
  id: number
  send(text: string, id: number): void
  destroy(): void
}

const HEAD_END = '\r\n\r\n'
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i
const READ_BYTES = 4_096

/** The length of a reply; undefined while that is not known. */
function lengthOf(text: string): number | undefined {
  const headEnd = text.indexOf(HEAD_END)
  if (headEnd === -1) return undefined
  return headEnd + HEAD_END.length + Number(CONTENT_LENGTH.exec(text)?.[1])
}

/** Opens a connection that costs its process little, so that it presses the server and not itself. */
export function openCaller({ port, onReply, onEnd }: CallerOptions): Promise<Caller> {
  let received = ''
  let sentAt = 0
  const buffer = Buffer.allocUnsafe(READ_BYTES)
  const callback = (length: number): boolean => {
    received += buffer.toString('latin1', 0, length)
    const replyLength = lengthOf(received)
    if (replyLength === undefined || received.length < replyLength) return true
    const status = Number(received.slice(9, 12))
    received = ''
    onReply(caller, status, performance.now() - sentAt)
    return true
  }
  const socket: Socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: { buffer, callback },
  })
  const caller: Caller = {
    id: 0,
    send(text, id) {
      caller.id = id
      sentAt = performance.now()
      socket.write(text, 'latin1')
    },
    destroy: () => void socket.destroy(),
  }
  return new Promise((resolve, reject) => {
    socket.once('connect', () => {
      socket.off('error', reject)
      socket.on('error', () => {})
      socket.once('close', () => onEnd(caller))
      resolve(caller)
    })
    socket.once('error', reject)
  })
}
