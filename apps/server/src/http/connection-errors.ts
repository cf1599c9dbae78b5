import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Response } from 'express'
import { isLingering, linger } from './close.ts'
import { contain, type Exchange, latestExchangeOf } from './pipelining.ts'
import { RequestError } from './request-error.ts'
import { type Listeners, noteFailure, noteRefusedBytes } from './request-log.ts'
import { errorBodyOf, headersOf, requestIdOf, sendError } from './response.ts'

/** The parser counts trailers alone, and all else together. */
const HEADERS_TOO_LARGE = 'the request line and headers, or the trailers, are larger than 16 KiB'
const UNKNOWN_METHOD = 'the request does not begin with a known method; methods are in capitals'

function toRequestError(cause: NodeJS.ErrnoException): RequestError {
  switch (cause.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new RequestError('headers_too_large', HEADERS_TOO_LARGE, { cause })
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new RequestError('body_too_large', 'the chunk extensions are too large', { cause })
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new RequestError('request_timeout', 'the request did not arrive in time', { cause })
    case 'HPE_INVALID_METHOD':
      return new RequestError('malformed_request', UNKNOWN_METHOD, { cause })
    default:
      return new RequestError('malformed_request', 'the bytes are no HTTP/1.1 request', { cause })
  }
}

/** Writes a response where Node has no response object for it, and closes the connection. */
function writeRawResponse(socket: Socket, error: RequestError, requestId: string): void {
  const body = errorBodyOf(error)
  const date = new Date().toUTCString()
  const always = headersOf(requestId, Buffer.byteLength(body))
  const lines = [...always, 'date', date, 'connection', 'close']
  const head = lines.map((text, index) => (index % 2 === 0 ? `\r\n${text}: ` : text)).join('')
  socket.write(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}${head}\r\n\r\n${body}`)
  linger(socket)
}

function refuseBetweenRequests(listeners: Listeners, socket: Socket, error: RequestError): void {
  const requestId = randomUUID()
  noteRefusedBytes(listeners, error, { requestId, remoteAddress: socket.remoteAddress })
  writeRawResponse(socket, error, requestId)
}

/** Sends the one response to a request whose body broke the rules, or never came. */
function refuseRequest(listeners: Listeners, exchange: Exchange, error: RequestError): void {
  const { request } = exchange
  // Made of the app's classes: see messageClassesOf.
  const response = exchange.response as Response
  if (response.headersSent) {
    // Answered already, and the body cannot be read any more.
    const { socket } = request
    const close = () => isLingering(socket) || socket.destroySoon()
    if (response.closed) close()
    else response.once('close', close)
    return
  }
  // Its turn may not have come.
  response.locals ??= { requestId: requestIdOf(request) }
  noteFailure(listeners, error, response)
  sendError(response, error, { closesConnection: true, isOfLastRequest: true })
}

function refuse(listeners: Listeners, socket: Socket, error: RequestError): void {
  const exchange = latestExchangeOf(socket)
  const refuseBytes = () => refuseBetweenRequests(listeners, socket, error)
  if (exchange === undefined) refuseBytes()
  else if (!exchange.request.complete) refuseRequest(listeners, exchange, error)
  else if (exchange.response.closed) refuseBytes()
  // The bytes that broke the rules came after this request: its own response goes first.
  else exchange.response.once('close', refuseBytes)
}

/** Answers what Node's HTTP parser refuses with an Error body, after the responses still owed. */
export function respondToConnectionErrors(server: Server, listeners: Listeners): void {
  const refused = new WeakSet<Socket>()
  const refuseOn = (socket: Socket, error: RequestError) =>
    contain(socket, listeners.log, 'refusal', () => refuse(listeners, socket, error))
  server.on('clientError', (cause: NodeJS.ErrnoException, socket: Socket) => {
    if (refused.has(socket)) return
    refused.add(socket)
    if (cause.code === 'ECONNRESET' || !socket.writable) socket.destroy()
    else refuseOn(socket, toRequestError(cause))
  })
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // Node has removed its own listeners, and an error without a listener ends the process.
    socket.on('error', () => {})
    socket.on('timeout', () => socket.destroy())
    refuseOn(socket, new RequestError('malformed_request', 'CONNECT is for proxies'))
  })
}
