import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ErrorBody, encodeJson } from '@plant-store/contract'
import { holdsCredential } from '../text/without-credentials.ts'
import { markAsClosing } from './exchanges.ts'
import { endAndClose } from './lingering-close.ts'
import type { RequestError } from './request-error.ts'
import { PIECE_BYTES, sendPieces } from './send-pieces.ts'

const REQUEST_ID = /^[\w.-]{1,128}$/

/**
 * The caller's x-request-id where it is well formed and holds no credential, else a fresh UUID:
 * whoever sees a reply, a log or a trace sees the request's id.
 */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id']
  if (typeof given !== 'string' || !REQUEST_ID.test(given)) return randomUUID()
  return holdsCredential(given) ? randomUUID() : given
}

/** The headers that every reply with a body carries, names and values in turn. */
export function headersOf(
  requestId: string,
  bodyBytes: number,
  contentType = 'application/json',
): string[] {
  return [
    'content-type',
    contentType,
    'content-length',
    String(bodyBytes),
    'cache-control',
    'no-store',
    'x-content-type-options',
    'nosniff',
    'x-request-id',
    requestId,
  ]
}

const NONE: readonly string[] = []

const moreHeaders = Symbol('more headers')
const isAnswered = Symbol('is answered')

interface MarkedResponse extends ServerResponse {
  [moreHeaders]?: string[]
  [isAnswered]?: true
}

/** Whether a reply was begun and has failed on its way to the connection. */
export function isCutOff(response: MarkedResponse): boolean {
  return response.headersSent && response[isAnswered] !== true
}

/** Adds a header to the reply that this request will get, whatever it will be. */
export function addHeader(response: MarkedResponse, name: string, value: string): void {
  response[moreHeaders] ??= []
  response[moreHeaders].push(name, value)
}

/** What addHeader has added, names and values in turn. */
export function addedHeadersOf(response: MarkedResponse): readonly string[] {
  return response[moreHeaders] ?? NONE
}

/** Whether the unread rest of the body is too long, or too uncertain, to wait for. */
export function hasUnwantedBody(request: IncomingMessage, bodyLimitBytes: number): boolean {
  const { headers, complete } = request
  if (Number(headers['content-length'] ?? 0) > bodyLimitBytes) return true
  return !complete && (headers['transfer-encoding'] !== undefined || headers.expect !== undefined)
}

/** Whether Node's parser may have dropped what came in one packet behind this request. */
export function hidesWhatFollows({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined
}

/** The Error body of a failure. */
export function errorBodyOf({ code, message }: Pick<RequestError, 'code' | 'message'>): string {
  const body: ErrorBody = { error: code, message }
  return encodeJson(body)
}

export interface Reply {
  readonly status: number
  /** JSON text, unless `contentType` says otherwise. */
  readonly body: string
  readonly contentType?: string
  readonly requestId: string
  /** More headers, names and values in turn. */
  readonly headers?: readonly string[]
  readonly closesConnection: boolean
  /** Nothing can be read after this request, and those before it may still wait for their turn. */
  readonly isOfLastRequest?: boolean
}

/**
 * Writes a reply; with `closesConnection`, or where a next request may have been lost, it is the
 * last one on its connection. Gives false where what came after the headers broke the rules and was
 * answered meanwhile.
 */
export function sendReply(
  request: IncomingMessage,
  response: MarkedResponse,
  reply: Reply,
): boolean {
  if (response.headersSent) return false
  const { status, body, contentType, requestId, headers = [], closesConnection } = reply
  const bodyBytes = Buffer.byteLength(body)
  const lines = headersOf(requestId, bodyBytes, contentType)
  // A 204 has no content, and so no lines about any (RFC 9110 §8.6, §15.3.5).
  if (status === 204) lines.splice(0, 4)
  lines.push(...headers)
  lines.push(...addedHeadersOf(response))
  // Of a caller that wants the connection closed the body may still be on its way.
  const isKept = request.complete || response.shouldKeepAlive
  if (isKept && !closesConnection && !hidesWhatFollows(request)) {
    // Text of one byte a character is written faster when Node is told so.
    const encoding = bodyBytes === body.length ? 'latin1' : 'utf8'
    response.writeHead(status, lines)
    if (bodyBytes <= PIECE_BYTES) response.end(body, encoding)
    else sendPieces(response, Buffer.from(body), () => response.end())
    response[isAnswered] = true
    return true
  }
  if (reply.isOfLastRequest !== true) markAsClosing(request.socket)
  response.writeHead(status, [...lines, 'connection', 'close'])
  endAndClose(request, response, body)
  response[isAnswered] = true
  return true
}
