import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Express } from 'express'
import { trackConnections } from './close-listener.ts'
import { replyConnectionErrors } from './connection-errors.ts'
import { handleInTurn, isFull } from './exchanges.ts'
import { MAX_HEADER_LINES } from './framing.ts'
import { boundIntake } from './intake.ts'
import { withLastResort } from './last-resort.ts'
import { messageClassesOf } from './message-classes.ts'
import { keepPace } from './pace.ts'
import type { PipelineOptions } from './pipeline.ts'
import { readTargets } from './read-targets.ts'

export interface Address {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
}

export interface ListenerLimits {
  readonly headerLimitBytes: number
  /** From the first byte of a request to the end of its headers. */
  readonly headersTimeoutMs: number
  /** From the first byte of a request to the end of its body. */
  readonly requestTimeoutMs: number
  /** How long a connection may stay open between two requests. */
  readonly keepAliveTimeoutMs: number
  /** What a caller must send of a body, and read of a reply, in a second. */
  readonly minDataRateBytes: number
}

/** How often overdue requests are looked for: the precision of the two request timeouts. */
const TIMEOUT_CHECK_MS = 500

/**
 * What may wait in the buffers of a connection and of a body before no more is read or parsed. Little,
 * because of a body in chunks of one byte each takes 150; a reply to a create is about as long.
 */
const BUFFER_BYTES = 512

/** Nothing moves on a connection for this much longer than a request may take: the reader is gone. */
const IDLE_MARGIN_MS = 30_000

/** What stands around an app. */
export interface ListenerParts {
  /** Is put before the app, and may answer requests itself. */
  readonly admit?: (app: RequestListener) => RequestListener
  /** Told of each connection that was ended or refused because its caller was too slow. */
  readonly onSlow?: (socket: Socket) => void
}

/** An HTTP/1.1 server for an app, not yet listening, whose every refusal carries an Error body. */
export function createListener(
  app: Express,
  limits: ListenerLimits,
  options: PipelineOptions,
  { admit = (handle) => handle, onSlow = () => {} }: ListenerParts = {},
): Server {
  const { log } = options
  const handle = handleInTurn(readTargets(admit(withLastResort(app, options)), options), log)
  const server = createServer(
    {
      ...messageClassesOf(app),
      maxHeaderSize: limits.headerLimitBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      highWaterMark: BUFFER_BYTES,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      // Checked by the app, so that the reply carries an Error body.
      requireHostHeader: false,
    },
    handle,
  )
  // A caller that has finished sending may still be waiting for the reply to its last request.
  Object.assign(server, { httpAllowHalfOpen: true })
  // Node drops header lines over its limit without a word: twice as many as may be tell the app.
  server.maxHeadersCount = 2 * MAX_HEADER_LINES
  server.timeout = Math.max(limits.requestTimeoutMs, limits.keepAliveTimeoutMs) + IDLE_MARGIN_MS
  boundIntake(server, isFull, log)
  server.on('checkContinue', handle)
  server.on('checkExpectation', handle)
  replyConnectionErrors(server, options)
  trackConnections(server)
  keepPace(server, { minDataRateBytes: limits.minDataRateBytes, onSlow, log })
  return server
}

/**
 * Starts listening and gives the address as a URL.
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
