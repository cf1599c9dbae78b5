import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  contract,
  type ErrorBody,
  encodeJson,
  headerNames,
  isRequestId,
} from '@plant-store/contract'
import type { Response } from 'express'
import { holdsCredential } from '../text/without-credentials.ts'
import { lingerAfter } from './close.ts'
import './locals.ts'
import { markAsClosing } from './pipelining.ts'
import type { RequestError } from './request-error.ts'

/**
 * The caller's request id if it is well formed and holds no credential, else a fresh UUID:
 * the id is visible in responses, logs and traces.
 */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers[headerNames.requestId]
  if (typeof given !== 'string' || !isRequestId(given)) return randomUUID()
  return holdsCredential(given) ? randomUUID() : given
}

/** What a response is made of. */
export interface Content {
  readonly status: number
  /** JSON text, unless `contentType` says otherwise. */
  readonly body: string | Uint8Array
  readonly contentType?: string
  /** `no-store` by default. */
  readonly cacheControl?: string
  /** More headers, names and values in turn. */
  readonly headers?: readonly string[]
  readonly closesConnection: boolean
  /** Nothing can be read after this request, but requests before it may still wait for their turn. */
  readonly isOfLastRequest?: boolean
}

/** The headers of every response, names and values in turn; the first four are about its content. */
export function headersOf(
  requestId: string,
  bodyBytes: number,
  {
    contentType = contract.createPlant.contentType,
    cacheControl = 'no-store',
  }: Partial<Content> = {},
): string[] {
  return [
    headerNames.contentType,
    contentType,
    'content-length',
    String(bodyBytes),
    'cache-control',
    cacheControl,
    'x-content-type-options',
    'nosniff',
    headerNames.requestId,
    requestId,
  ]
}

/** Adds a header to the response that this request will get, whatever it will be. */
export function addHeader({ locals }: Response, name: string, value: string): void {
  locals.addedHeaders ??= []
  locals.addedHeaders.push(name, value)
}

/** When a response is the last one on its connection. */
export interface ClosingRules {
  /** A body up to this many bytes is read to its end even if it is refused. */
  readonly bodyLimitBytes: number
  /** Once it has begun, each response is the last one on its connection. */
  readonly shutdown: { readonly hasBegun: boolean }
}

/** Whether the unread rest of the body is too long, or too uncertain, to wait for. */
function hasUnwantedBody({ headers, complete }: IncomingMessage, bodyLimitBytes: number): boolean {
  if (Number(headers['content-length'] ?? 0) > bodyLimitBytes) return true
  return !complete && (headers['transfer-encoding'] !== undefined || headers.expect !== undefined)
}

/** Whether a response that leaves the body unread ends the connection of this request. */
export function endsConnection(request: IncomingMessage, rules: ClosingRules): boolean {
  return rules.shutdown.hasBegun || hasUnwantedBody(request, rules.bodyLimitBytes)
}

/** The Error body of a failure. */
export function errorBodyOf({ code, message }: Pick<RequestError, 'code' | 'message'>): string {
  const body: ErrorBody = { error: code, message }
  return encodeJson(body)
}

/** A response is written in pieces of this size, so that a caller who reads none of it is noticed. */
export const PIECE_BYTES = 16_384

/** Writes a body and ends the response; each piece waits until the caller has taken the one before. */
function endInPieces(response: ServerResponse, body: Uint8Array): void {
  let start = 0
  function goOn(): void {
    while (start < body.length) {
      const piece = body.subarray(start, start + PIECE_BYTES)
      start += piece.length
      if (!response.write(piece) && start < body.length) return void response.once('drain', goOn)
    }
    response.end()
  }
  goOn()
}

function end(response: ServerResponse, body: string | Uint8Array, bodyBytes: number): void {
  if (bodyBytes > PIECE_BYTES) {
    endInPieces(response, typeof body === 'string' ? Buffer.from(body) : body)
    return
  }
  // Node writes text of one byte a character faster when it knows that it is.
  response.end(body, bodyBytes === body.length ? 'latin1' : 'utf8')
}

/**
 * Writes a response. It is the last one on its connection with `closesConnection`, or if a next request
 * may have been lost. Returns false if there is one already: bytes that came after the headers
 * may have broken the rules, and been answered, in the meantime.
 */
export function sendResponse(response: Response, content: Content): boolean {
  if (response.headersSent) return false
  const { req: request, locals } = response
  const { status, body, headers = [], closesConnection } = content
  const bodyBytes = Buffer.byteLength(body)
  const lines = headersOf(locals.requestId, bodyBytes, content)
  // A 204 and a 304 have no content, so no headers about any (RFC 9110 §8.6, §15.3.5, §15.4.5).
  if (status === 204 || status === 304) lines.splice(0, 4)
  lines.push(...headers)
  if (locals.addedHeaders !== undefined) lines.push(...locals.addedHeaders)
  // If the caller wants the connection closed, the body may still be on its way. Behind an Upgrade,
  // Node's parser may have dropped what came in the same packet.
  const isKept = request.complete || response.shouldKeepAlive
  if (!isKept || closesConnection || request.headers.upgrade !== undefined) {
    if (content.isOfLastRequest !== true) markAsClosing(request.socket)
    lines.push('connection', 'close')
    lingerAfter(request)
  }
  response.writeHead(status, lines)
  end(response, body, bodyBytes)
  locals.isAnswered = true
  return true
}

/** Responds with the Error body of an error. */
export function sendError(
  response: Response,
  error: RequestError,
  closing: Pick<Content, 'closesConnection' | 'isOfLastRequest'>,
): void {
  sendResponse(response, {
    ...closing,
    status: error.status,
    body: errorBodyOf(error),
    headers: error.headers,
    closesConnection: closing.closesConnection || error.closesConnection,
  })
}
