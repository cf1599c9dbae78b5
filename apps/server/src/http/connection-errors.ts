import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Request, Response } from 'express'
import { errorBodyOf, headersOf, requestIdOf, sendAnswer } from './answer.ts'
import { contain } from './contain.ts'
import { type Exchange, latestExchangeOf } from './exchanges.ts'
import { RequestError } from './request-error.ts'
import { type Listeners, noteFailure, noteRefusedBytes } from './request-log.ts'

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
  const date = new Date().toUTCString()
  const lines = [
    ...headersOf(requestId, Buffer.byteLength(body)),
    'date',
    date,
    'connection',
    'close',
  ]
  const head = lines.map((text, index) => (index % 2 === 0 ? `\r\n${text}: ` : text)).join('')
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}${head}\r\n\r\n${body}`)
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}

function refuseBetweenRequests(listeners: Listeners, socket: Socket, error: RequestError): void {
  const requestId = randomUUID()
  noteRefusedBytes(listeners, error, requestId, socket.remoteAddress)
  writeRawAnswer(socket, error, requestId)
}

/** A request whose body broke the rules, or never came, gets exactly one answer. */
function refuseRequest(
  listeners: Listeners,
  { request, response }: Exchange,
  error: RequestError,
): void {
  if (response.headersSent) {
    // Answered already. A lingering answer waits for a body that cannot be read any more.
    if (response.writableEnded) request.socket.destroySoon()
    else if (response.socket !== null) request.socket.end()
    // Its turn has not come: with the socket's end it would be lost.
    else response.end()
    return
  }
  const requestId = requestIdOf(request)
  // Made of the app's classes: see messageClassesOf.
  noteFailure(listeners, error, requestId, request as Request, response as Response)
  sendAnswer(request, response, {
    status: error.status,
    body: errorBodyOf(error),
    requestId,
    closesConnection: true,
    isOfLastRequest: true,
  })
  // Nothing more can be read, so the caller is told at once that nothing more will come; unless
  // the answers to earlier requests are still owed.
  if (response.socket !== null) request.socket.end()
}

function refuse(listeners: Listeners, socket: Socket, error: RequestError): void {
  const exchange = latestExchangeOf(socket)
  const refuseBytes = () => refuseBetweenRequests(listeners, socket, error)
  if (exchange === undefined) refuseBytes()
  else if (!exchange.request.complete) refuseRequest(listeners, exchange, error)
  else if (exchange.response.closed) refuseBytes()
  // The bytes that broke the rules came after this request: its own answer goes first.
  else exchange.response.once('close', refuseBytes)
}

/** Answers with an Error body, and in turn, what Node's HTTP parser refuses. */
export function answerConnectionErrors(server: Server, listeners: Listeners): void {
  const refused = new WeakSet<Socket>()
  server.on('clientError', (cause: NodeJS.ErrnoException, socket: Socket) => {
    if (refused.has(socket)) return
    refused.add(socket)
    if (cause.code === 'ECONNRESET' || !socket.writable) socket.destroy()
    else
      contain(socket, listeners.log, 'refusal', () =>
        refuse(listeners, socket, toRequestError(cause)),
      )
  })
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // Node has taken its own listeners off, and an error that nobody hears ends the process.
    socket.on('error', () => {})
    socket.on('timeout', () => socket.destroy())
    const error = new RequestError('malformed_request', 'CONNECT is for proxies')
    contain(socket, listeners.log, 'refusal', () => refuse(listeners, socket, error))
  })
}
