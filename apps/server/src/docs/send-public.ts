import { createHash } from 'node:crypto'
import type { Response } from 'express'
import { type PipelineOptions, reply } from '../http/pipeline.ts'

/** Content that everybody may read. */
export interface PublicContent {
  readonly contentType: string
  readonly content: string | Uint8Array
  readonly entityTag: string
  /** More headers, names and values in turn. */
  readonly headers?: readonly string[]
}

/** A strong entity tag (RFC 9110 §8.8.3): other bytes, another tag. */
export function entityTagOf(content: string | Uint8Array): string {
  return `"${createHash('sha256').update(content).digest('base64url')}"`
}

/**
 * Answers 200 with the content, or 304 if the caller has it already (RFC 9110 §13.1.2). Only the
 * caller itself may keep it, and must ask again each time: it can depend on the Host of the request.
 */
export function sendPublic(
  response: Response,
  { contentType, content, entityTag, headers = [] }: PublicContent,
  options: PipelineOptions,
): void {
  if (response.headersSent) return
  // Express compares it with If-None-Match.
  response.setHeader('etag', entityTag)
  const isKnown = response.req.fresh
  reply(response, isKnown ? '' : content, options, {
    status: isKnown ? 304 : 200,
    contentType,
    cacheControl: 'private, no-cache',
    headers,
    // A body that came along is not read, and more of it would be taken for a request.
    closesConnection: options.isDraining() || !response.req.complete,
  })
}
