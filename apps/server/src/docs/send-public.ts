import { createHash } from 'node:crypto'
import type { Request, Response } from 'express'
import { markAsClosing } from '../http/exchanges.ts'
import { endAndClose } from '../http/lingering-close.ts'
import type { PipelineOptions } from '../http/pipeline.ts'
import { addedHeadersOf, hidesWhatFollows } from '../http/reply.ts'
import { noteSuccess } from '../http/request-log.ts'
import { sendPieces } from '../http/send-pieces.ts'

/** What is answered to anybody who asks for it. */
export interface PublicContent {
  readonly contentType: string
  readonly content: string | Uint8Array
  readonly entityTag: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A strong entity tag (RFC 9110 §8.8.3): other bytes, another tag. */
export function entityTagOf(content: string | Uint8Array): string {
  return `"${createHash('sha256').update(content).digest('base64url')}"`
}

/**
 * Answers 200 with the content, or 304 where the caller has it already (RFC 9110 §13.1.2). It may be
 * kept by the caller alone and is asked for anew each time: it can tell of the Host that was named.
 */
export function sendPublic(
  request: Request,
  response: Response,
  { contentType, content, entityTag, headers = {} }: PublicContent,
  options: PipelineOptions,
): void {
  // What came after its headers may have broken the rules, and been answered, meanwhile.
  if (response.headersSent) return
  const fields = {
    'cache-control': 'private, no-cache',
    etag: entityTag,
    'x-content-type-options': 'nosniff',
    'x-request-id': response.locals.requestId,
    ...headers,
  }
  for (const [name, value] of Object.entries(fields)) response.setHeader(name, value)
  const added = addedHeadersOf(response)
  for (let index = 0; index < added.length; index += 2) {
    response.setHeader(added[index] ?? '', added[index + 1] ?? '')
  }
  const isKnown = request.fresh
  response.statusCode = isKnown ? 304 : 200
  if (!isKnown) {
    response.setHeader('content-type', contentType)
    response.setHeader('content-length', Buffer.byteLength(content))
  }
  noteSuccess(options, request, response)
  const body = isKnown ? '' : content
  // A body that came along is not read; whoever sends more of it would be heard as a request.
  if (!options.isDraining() && request.complete && !hidesWhatFollows(request)) {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    sendPieces(response, bytes, () => response.end())
    return
  }
  markAsClosing(request.socket)
  response.setHeader('connection', 'close')
  endAndClose(request, response, body)
}
