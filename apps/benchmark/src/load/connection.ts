import { once } from 'node:events'
import { connect } from 'node:net'
import type { PlantRequest } from './requests.ts'

export interface ConnectionOptions {
  readonly port: number
  /** The next request; undefined to end the connection. */
  readonly nextRequest: () => PlantRequest | undefined
  readonly onResponse: (latencyMs: number) => void
}

/** Longer than any response here. */
const READ_BYTES = 16_384

const HEAD_END = '\r\n\r\n'
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i

/**
 * Takes a response apart; undefined while it is not whole.
 * @throws when it does not state the length of its body
 */
function parseResponse(text: string): { status: number; body: string } | undefined {
  const headEnd = text.indexOf(HEAD_END)
  if (headEnd === -1) return undefined
  const length = CONTENT_LENGTH.exec(text)?.[1]
  if (length === undefined) throw new Error(`no content-length in ${text.slice(0, headEnd)}`)
  const bodyStart = headEnd + HEAD_END.length
  if (text.length < bodyStart + Number(length)) return undefined
  return { status: Number(text.slice(9, 12)), body: text.slice(bodyStart) }
}

/** Opens a keep-alive connection, without pipelining. Whatever is wrong ends this process. */
export function openConnection({ port, nextRequest, onResponse }: ConnectionOptions) {
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
    const response = parseResponse(received)
    if (response === undefined) return
    received = ''
    const { status, body } = response
    if (status !== 200 || request === undefined || !body.includes(request.expected)) {
      throw new Error(`${status} ${body} for ${request?.text}`)
    }
    onResponse(performance.now() - sentAt)
    sendNext()
  }

  // One buffer for all responses: the processor time saved is left to the server.
  const buffer = Buffer.allocUnsafe(READ_BYTES)
  const callback = (length: number) => {
    receive(buffer.toString('latin1', 0, length))
    return true
  }
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer, callback } })

  return {
    socket,
    /** Sends one request after the other, each once the one before is answered. */
    async run(): Promise<void> {
      sendNext()
      await once(socket, 'close')
      if (request !== undefined) throw new Error('closed before the response')
    },
  }
}
