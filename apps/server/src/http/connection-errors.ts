import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Request, Response } from 'express'
import { contain } from './contain.ts'
import { type Exchange, latestExchangeOf } from './exchanges.ts'
import { isLingering, linger } from './lingering-close.ts'
import { errorBodyOf, headersOf, requestIdOf, sendReply } from './reply.ts'
import { RequestError } from './request-error.ts'
import { type Listeners, noteFailure, noteRefusedBytes } from './request-log.ts'

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

/** Writes a reply where Node has no response object for it, and closes the connection. */
function writeRawReply(socket: Socket, error: RequestError, requestId: string): void {
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
  socket.write(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}${head}\r\n\r\n${body}`)
  linger(socket)
}

function refuseBetweenRequests(listeners: Listeners, socket: Socket, error: RequestError): void {
  const requestId = randomUUID()
  noteRefusedBytes(listeners, error, requestId, socket.remoteAddress)
  writeRawReply(socket, error, requestId)
}

/** A request whose body broke the rules, or never came, gets exactly one reply. */
function refuseRequest(
  listeners: Listeners,
  { request, response }: Exchange,
  error: RequestError,
): void {
  if (response.headersSent) {
    // Answered already, and the body cannot be read any more.
    const { socket } = request
    const close = () => isLingering(socket) || socket.destroySoon()
    if (response.closed) close()
    else response.once('close', close)
    return
  }
  const requestId = requestIdOf(request)
  // Made of the app's classes: see messageClassesOf.
  noteFailure(listeners, error, requestId, request as Request, response as Response)
  sendReply(request, response, {
    status: error.status,
    body: errorBodyOf(error),
    requestId,
    closesConnection: true,
    isOfLastRequest: true,
  })
}

function refuse(listeners: Listeners, socket: Socket, error: RequestError): void {
  const exchange = latestExchangeOf(socket)
  const refuseBytes = () => refuseBetweenRequests(listeners, socket, error)
  if (exchange === undefined) refuseBytes()
  else if (!exchange.request.complete) refuseRequest(listeners, exchange, error)
  else if (exchange.response.closed) refuseBytes()
  // The bytes that broke the rules came after this request: its own reply goes first.
  else exchange.response.once('close', refuseBytes)
}

/** Answers with an Error body, and in turn, what Node's HTTP parser refuses. */
export function replyConnectionErrors(server: Server, listeners: Listeners): void {
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
