import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Express } from 'express'
import { trackConnections } from './close-listener.ts'
import { answerConnectionErrors } from './connection-errors.ts'
import { handleInTurn } from './exchanges.ts'
import { withLastResort } from './last-resort.ts'
import { messageClassesOf } from './message-classes.ts'
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
}

/** How often overdue requests are looked for: the precision of the two request timeouts. */
const TIMEOUT_CHECK_MS = 500

/** Nothing moves on a connection for this much longer than a request may take: the reader is gone. */
const IDLE_MARGIN_MS = 30_000

/**
 * An HTTP/1.1 server for an app, not yet listening, whose every refusal carries an Error body.
 * `admit` is put before the app and may answer requests itself.
 */
export function createListener(
  app: Express,
  limits: ListenerLimits,
  options: PipelineOptions,
  admit = (app: RequestListener): RequestListener => app,
): Server {
  const handle = handleInTurn(readTargets(admit(withLastResort(app, options)), options))
  const server = createServer(
    {
      ...messageClassesOf(app),
      maxHeaderSize: limits.headerLimitBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      // Checked by the app, so that the answer carries an Error body.
      requireHostHeader: false,
    },
    handle,
  )
  // A caller that has finished sending may still be waiting for the answer to its last request.
  Object.assign(server, { httpAllowHalfOpen: true })
  // Node drops header lines over its limit without a word; the app counts them instead.
  server.maxHeadersCount = 0
  server.timeout = Math.max(limits.requestTimeoutMs, limits.keepAliveTimeoutMs) + IDLE_MARGIN_MS
  server.on('checkContinue', handle)
  server.on('checkExpectation', handle)
  answerConnectionErrors(server, options)
  trackConnections(server)
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
