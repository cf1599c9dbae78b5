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
import type { Address } from '../config/setting-schemas.ts'
import { trackConnections } from './close-listener.ts'
import { replyConnectionErrors } from './connection-errors.ts'
import { handleInTurn, isFull } from './exchanges.ts'
import { MAX_HEADER_LINES } from './framing.ts'
import { boundIntake } from './intake.ts'
import { withLastResort } from './last-resort.ts'
import { keepPace } from './pace.ts'
import type { EarlyCheck, PipelineOptions } from './pipeline.ts'
import { requestIdOf } from './reply.ts'

export interface ListenerLimits {
  /** From the first byte of a request to the end of its body. */
  readonly requestTimeoutMs: number
  /** How long a connection may stay open between two requests. */
  readonly keepAliveTimeoutMs: number
}

/** The longest header section: request line and headers. */
const HEADER_LIMIT_BYTES = 16_384

/** The longest time from the first byte of a request to the end of its headers. */
const HEADERS_TIMEOUT_MS = 10_000

/** How often overdue requests are looked for: the precision of the two request timeouts. */
const TIMEOUT_CHECK_MS = 500

/**
 * How much may wait in the buffers of a connection and of a body before reading and parsing stop.
 * Little, because a chunk of one byte takes 150 bytes of memory; a reply to a create is about as long.
 */
const BUFFER_BYTES = 512

/** What is around an app. */
export interface ListenerParts {
  /** What each request must pass before the app, in this order. */
  readonly checks?: readonly EarlyCheck[]
  /** Notified of each connection that was ended or refused because its caller was too slow. */
  readonly onSlow?: (socket: Socket) => void
}

/**
 * Classes for Node's HTTP server to make messages of, so that each has Express's prototype from
 * the start. Express sets it on every message, and to set another one makes the whole request slower.
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

function createNodeServer(app: Express, limits: ListenerLimits, handle: RequestListener): Server {
  const server = createServer(
    {
      ...messageClassesOf(app),
      maxHeaderSize: HEADER_LIMIT_BYTES,
      headersTimeout: Math.min(HEADERS_TIMEOUT_MS, limits.requestTimeoutMs),
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      highWaterMark: BUFFER_BYTES,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      // Checked by the app, so that the reply has an Error body.
      requireHostHeader: false,
    },
    handle,
  )
  // A caller that has finished sending may still wait for the reply to its last request.
  Object.assign(server, { httpAllowHalfOpen: true })
  // Node drops header lines over its limit silently: with twice as many the app notices.
  server.maxHeadersCount = 2 * MAX_HEADER_LINES
  server.on('checkContinue', handle)
  server.on('checkExpectation', handle)
  return server
}

/** An HTTP/1.1 server for an app, not yet listening, whose every refusal has an Error body. */
export function createListener(
  app: Express,
  limits: ListenerLimits,
  options: PipelineOptions,
  { checks = [], onSlow = () => {} }: ListenerParts = {},
): Server {
  const { log } = options
  const ask = withLastResort(app, options)
  const handle = handleInTurn((message, serverResponse) => {
    // Made of the app's classes: see messageClassesOf.
    const request = message as Request
    const response = serverResponse as Response
    response.locals = { requestId: requestIdOf(request), beganAt: performance.now() }
    for (const check of checks) if (!check(request, response)) return
    ask(request, response)
  }, log)
  const server = createNodeServer(app, limits, handle)
  boundIntake(server, isFull, log)
  replyConnectionErrors(server, options)
  trackConnections(server)
  const { requestTimeoutMs, keepAliveTimeoutMs } = limits
  const longestMs = Math.max(requestTimeoutMs, keepAliveTimeoutMs)
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
