import { connect, type Socket } from 'node:net'
import { parseAnswer } from './answers.ts'
import type { PlantRequest } from './requests.ts'

export interface ConnectionOptions {
  readonly port: number
  /** The next request; undefined when there shall be no more. */
  readonly nextRequest: () => PlantRequest | undefined
  readonly onAnswer: (latencyMs: number) => void
  readonly onFailure: (what: string) => void
}

export interface Connection {
  readonly socket: Socket
  /** Sends one request after the other, each once the last was answered. */
  readonly run: () => Promise<void>
}

/** Longer than any answer here. */
const READ_BYTES = 16_384

/** Opens a keep-alive connection, without pipelining. */
export function openConnection(options: ConnectionOptions): Connection {
  const { port, nextRequest, onAnswer, onFailure } = options
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
    const answer = parseAnswer(received)
    if (answer === undefined) return
    received = ''
    if (answer.status === 200 && answer.body === request?.answerBody) {
      onAnswer(performance.now() - sentAt)
    } else onFailure(`${answer.status} ${answer.body} for ${request?.text}`)
    sendNext()
  }

  // One buffer for all answers: what the generator saves is left to the server it measures.
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
          if (request !== undefined) onFailure('the connection was closed before an answer')
          resolve()
        })
        sendNext()
      }),
  }
}
