import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Express, Request, Response } from 'express'
import type { Config } from '../config/config.ts'
import type { Address } from '../config/setting-schemas.ts'
import { trackConnections } from './close.ts'
import { respondToConnectionErrors } from './connection-errors.ts'
import { MAX_HEADER_LINES } from './framing.ts'
import { keepPace } from './pace.ts'
import type { EarlyCheck, PipelineOptions } from './pipeline.ts'
import { boundReads, endByException, handleInTurn } from './pipelining.ts'
import { requestIdOf } from './response.ts'

/** The longest header section: request line and headers. */
const HEADER_LIMIT_BYTES = 16_384

/** The longest time from the first byte of a request to the end of its headers. */
const HEADERS_TIMEOUT_MS = 10_000

/** How often overdue requests are looked for: the precision of the two request timeouts. */
const TIMEOUT_CHECK_MS = 500

/**
 * How much may wait in the buffers of a connection and of a body before reading and parsing stop.
 * Little, because a chunk of one byte takes 150 bytes of memory; a response to a create is about as long.
 */
const BUFFER_BYTES = 512

/** `requestTimeoutMs`: from the first byte of a request to the end of its body. */
type Timeouts = Pick<Config, 'requestTimeoutMs' | 'keepAliveTimeoutMs'>

/** What a server serves. */
export interface Served {
  readonly app: Express
  /** What each request must pass before the app, in this order. */
  readonly checks: readonly EarlyCheck[]
  /** Notified of each connection that was ended or refused because its caller was too slow. */
  readonly onSlow?: (socket: Socket) => void
}

/**
 * Classes for Node's HTTP server to make messages of, so that each has Express's prototype from
 * the start. Express sets it on every message, and to set another one there makes a create a tenth
 * dearer in processor time.
 */
function messageClassesOf(app: Express): Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
  class AppRequest extends IncomingMessage {}
  class AppResponse extends ServerResponse {}
  Object.setPrototypeOf(AppRequest.prototype, app.request)
  Object.setPrototypeOf(AppResponse.prototype, app.response)
  app.request = AppRequest.prototype as unknown as Express['request']
  app.response = AppResponse.prototype as unknown as Express['response']
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse } as never
}

function createBareServer(app: Express, timeouts: Timeouts, handle: RequestListener): Server {
  const { requestTimeoutMs, keepAliveTimeoutMs } = timeouts
  const server = createServer(
    {
      ...messageClassesOf(app),
      maxHeaderSize: HEADER_LIMIT_BYTES,
      headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeoutMs),
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      highWaterMark: BUFFER_BYTES,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      // Checked by the app, so that the response has an Error body.
      requireHostHeader: false,
    },
    handle,
  )
  // A caller that has finished sending may still wait for the response to its last request.
  Object.assign(server, { httpAllowHalfOpen: true })
  // Node drops header lines over its limit silently: with twice as many the app notices.
  server.maxHeadersCount = 2 * MAX_HEADER_LINES
  server.on('checkContinue', handle)
  server.on('checkExpectation', handle)
  return server
}

/** An HTTP/1.1 server for an app, not yet listening, whose every refusal has an Error body. */
export function createNodeServer(
  { app, checks, onSlow = () => {} }: Served,
  timeouts: Timeouts,
  options: PipelineOptions,
): Server {
  const { log } = options
  const handle = handleInTurn((message, serverResponse) => {
    // Made of the app's classes: see messageClassesOf.
    const request = message as Request
    const response = serverResponse as Response
    response.locals = { requestId: requestIdOf(request), beganAt: performance.now() }
    for (const check of checks) if (!check(request, response)) return
    // The app's last layer answers every error but its own: the caller then learns nothing, which is
    // what an unknown outcome is.
    app(request, response, (error) => endByException(request.socket, log, 'answer', error))
  }, log)
  const server = createBareServer(app, timeouts, handle)
  boundReads(server, log)
  respondToConnectionErrors(server, options)
  trackConnections(server)
  const longestMs = Math.max(timeouts.requestTimeoutMs, timeouts.keepAliveTimeoutMs)
  keepPace(server, { longestMs, onSlow, log })
  return server
}

/**
 * Starts listening and resolves with the address as a URL.
 * @throws the error of Node's listen, with the host and port that were asked for.
 */
export function listen(server: Server, { host, port }: Address): Promise<string> {
  return new Promise((resolve, reject) => {
    const refuse = (error: Error) => reject(Object.assign(error, { host, port }))
    server.once('error', refuse)
    server.listen({ host, port }, () => {
      server.off('error', refuse)
      const { address, family, port: actualPort } = server.address() as AddressInfo
      resolve(`http://${family === 'IPv6' ? `[${address}]` : address}:${actualPort}`)
    })
  })
}
