import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ErrorBody, encodeJson } from '@plant-store/contract'
import { markAsClosing } from './exchanges.ts'
import { endAndClose } from './lingering-close.ts'
import type { RequestError } from './request-error.ts'

const REQUEST_ID = /^[\w.-]{1,128}$/

/** The caller's x-request-id where it is well formed, else a fresh UUID. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
}

/** The headers that every answer carries, names and values in turn. */
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

/** The Error body of a failure. */
export function errorBodyOf({ code, message }: Pick<RequestError, 'code' | 'message'>): string {
  const body: ErrorBody = { error: code, message }
  return encodeJson(body)
}

export interface Answer {
  readonly status: number
  /** JSON text, unless `contentType` says otherwise. */
  readonly body: string
  readonly contentType?: string
  readonly requestId: string
  /** More headers, names and values in turn. */
  readonly headers?: readonly string[]
  readonly closesConnection: boolean
}

/** Writes an answer; with `closesConnection` it is the last one on its connection. */
export function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
): void {
  const { status, body, contentType, requestId, headers = [], closesConnection } = answer
  const bodyBytes = Buffer.byteLength(body)
  const lines = headersOf(requestId, bodyBytes, contentType)
  lines.push(...headers)
  if (!closesConnection) {
    // Text of one byte a character is written faster when Node is told so.
    const encoding = bodyBytes === body.length ? 'latin1' : 'utf8'
    response.writeHead(status, lines).end(body, encoding)
    return
  }
  markAsClosing(request.socket)
  response.writeHead(status, [...lines, 'connection', 'close'])
  endAndClose(request, response, body)
}
