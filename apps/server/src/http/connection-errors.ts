import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import { errorBodyOf, headersOf, requestIdOf, sendAnswer } from './answer.ts'
import { logFailure } from './pipeline.ts'
import { RequestError } from './request-error.ts'

/** How long a caller may go on sending after its connection was refused. */
const LINGER_MS = 1_000

function toRequestError(cause: NodeJS.ErrnoException): RequestError {
  switch (cause.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new RequestError('headers_too_large', 'the request headers are too large', { cause })
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new RequestError('body_too_large', 'the chunk extensions are too large', { cause })
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new RequestError('request_timeout', 'the request did not arrive in time', { cause })
    default:
      return new RequestError('malformed_request', 'the bytes are no HTTP/1.1 request', { cause })
  }
}

/** Writes an answer where Node has no response object for it, and closes the connection. */
function writeRawAnswer(socket: Socket, error: RequestError, requestId: string): void {
  const body = errorBodyOf(error)
  const lines = [...headersOf(requestId, body), 'connection', 'close']
  const head = lines.map((text, index) => (index % 2 === 0 ? `\r\n${text}: ` : text)).join('')
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}${head}\r\n\r\n${body}`)
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** Answers with an Error body, and in order, what Node's HTTP parser refuses. */
export function answerConnectionErrors(server: Server, log: Logger): void {
  const latest = new WeakMap<Socket, Exchange>()
  const refused = new WeakSet<Socket>()

  function remember(request: IncomingMessage, response: ServerResponse): void {
    latest.set(request.socket, { request, response })
  }

  function refuse(socket: Socket, error: RequestError): void {
    const { request, response } = latest.get(socket) ?? {}
    const requestId = request && !request.complete ? requestIdOf(request) : randomUUID()
    logFailure(log, error, { requestId, remoteAddress: socket.remoteAddress })
    if (request === undefined || response === undefined || response.writableFinished) {
      writeRawAnswer(socket, error, requestId)
    } else if (request.complete) {
      // The bytes that broke the rules came after this request: its own answer goes first.
      response.once('close', () => writeRawAnswer(socket, error, requestId))
    } else if (response.headersSent) {
      socket.destroy()
    } else {
      sendAnswer(request, response, {
        status: error.status,
        body: errorBodyOf(error),
        requestId,
        closesConnection: true,
      })
    }
  }

  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.prependListener(event, remember)
  }
  server.on('clientError', (cause: NodeJS.ErrnoException, socket: Socket) => {
    if (refused.has(socket)) return
    refused.add(socket)
    if (cause.code === 'ECONNRESET' || !socket.writable) socket.destroy()
    else refuse(socket, toRequestError(cause))
  })
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    refuse(socket, new RequestError('malformed_request', 'CONNECT is for proxies'))
  })
}
