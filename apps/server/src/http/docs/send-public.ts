import { createHash } from 'node:crypto'
import type { Response } from 'express'
import { type PipelineOptions, reply } from '../pipeline.ts'

/** The content codings that a build makes, the smallest first. */
export const CODINGS = ['br', 'gzip'] as const

export type Coding = (typeof CODINGS)[number]

/** The bytes of one form of a content, with a tag of their own. */
export interface Form {
  readonly content: string | Uint8Array
  readonly entityTag: string
}

/** Content that everybody may read. */
export interface PublicContent extends Form {
  readonly contentType: string
  /** The same, compressed; without it every caller gets `content`. */
  readonly compressed?: Readonly<Record<Coding, Form>>
  /** More headers, names and values in turn. */
  readonly headers?: readonly string[]
}

/** A strong entity tag (RFC 9110 §8.8.3): other bytes, another tag. */
export function entityTagOf(content: string | Uint8Array): string {
  return `"${createHash('sha256').update(content).digest('base64url')}"`
}

/** The smallest coding that a caller takes (RFC 9110 §12.5.3); undefined if it takes none. */
function codingFor({ req }: Response): Coding | undefined {
  // Asked one by one, because Express would follow the order in which the caller names them.
  return CODINGS.find((coding) => req.acceptsEncodings(coding) !== false)
}

/**
 * Answers 200 with the content, or 304 if the caller has it already (RFC 9110 §13.1.2). Only the
 * caller itself may keep it, and must ask again each time: an upgrade of the server changes it.
 */
export function sendPublic(
  response: Response,
  { contentType, compressed, headers = [], ...plain }: PublicContent,
  options: PipelineOptions,
): void {
  if (response.headersSent) return
  const coding = compressed && codingFor(response)
  const { content, entityTag } = (coding && compressed?.[coding]) ?? plain
  // Express compares it with If-None-Match.
  response.setHeader('etag', entityTag)
  const isKnown = response.req.fresh
  reply(response, isKnown ? '' : content, options, {
    status: isKnown ? 304 : 200,
    contentType,
    cacheControl: 'private, no-cache',
    headers: [
      ...headers,
      ...(compressed ? ['vary', 'Accept-Encoding'] : []),
      ...(coding && !isKnown ? ['content-encoding', coding] : []),
    ],
    // A body that came along is not read, and more of it would be taken for a request.
    closesConnection: options.isDraining() || !response.req.complete,
  })
}
