import { connect, type Socket } from 'node:net'
import type { PlantRequest } from './requests.ts'

interface Reply {
  readonly status: number
  readonly body: string
}

export interface ConnectionOptions {
  readonly port: number
  /** The next request; undefined to end the connection. */
  readonly nextRequest: () => PlantRequest | undefined
  readonly onReply: (latencyMs: number) => void
  readonly onFailure: (what: string) => void
}

export interface Connection {
  readonly socket: Socket
  /** Sends one request after the other, each once the one before is answered. */
  readonly run: () => Promise<void>
}

/** Longer than any reply here. */
const READ_BYTES = 16_384

const HEAD_END = '\r\n\r\n'
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i

/**
 * Takes a reply apart; undefined while it is not whole.
 * @throws when it does not state the length of its body
 */
function parseReply(text: string): Reply | undefined {
  const headEnd = text.indexOf(HEAD_END)
  if (headEnd === -1) return undefined
  const length = CONTENT_LENGTH.exec(text)?.[1]
  if (length === undefined) throw new Error(`no content-length in ${text.slice(0, headEnd)}`)
  const bodyStart = headEnd + HEAD_END.length
  if (text.length < bodyStart + Number(length)) return undefined
  return { status: Number(text.slice(9, 12)), body: text.slice(bodyStart) }
}

/** Opens a keep-alive connection, without pipelining. */
export function openConnection(options: ConnectionOptions): Connection {
  const { port, nextRequest, onReply, onFailure } = options
  let request: PlantRequest | undefined
  let sentAt = 0
  let received = ''

  function sendNext(): void {
    request = nextRequest()
    sentAt = performance.now()
    if (request === undefined) socket.end()
    else socket.write(request.text, 'latin1')
  }

  function receive(text: string): void {
    received += text
    const reply = parseReply(received)
    if (reply === undefined) return
    received = ''
    if (reply.status === 200 && reply.body === request?.replyBody) {
      onReply(performance.now() - sentAt)
    } else onFailure(`${reply.status} ${reply.body} for ${request?.text}`)
    sendNext()
  }

  // One buffer for all replies: the processor time saved is left to the server.
  const buffer = Buffer.allocUnsafe(READ_BYTES)
  const callback = (length: number) => {
    receive(buffer.toString('latin1', 0, length))
    return true
  }
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer, callback } })

  return {
    socket,
    run: () =>
      new Promise((resolve) => {
        socket.on('error', (error) => onFailure(error.message))
        socket.on('close', () => {
          if (request !== undefined) onFailure('the connection was closed before its reply')
          resolve()
        })
        sendNext()
      }),
  }
}
