import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Response } from 'express'
import { type PipelineOptions, respond } from './pipeline.ts'

/** Content that everybody may read. */
export interface PublicContent {
  readonly contentType: string
  readonly content: string | Uint8Array
  /** Other bytes, another tag. */
  readonly entityTag: string
  /** More headers, names and values in turn. */
  readonly headers?: readonly string[]
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** Everything comes from and goes to this server; a page has no inline script and no inline style. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE_HEADERS = Object.entries({
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
}).flat()

/** With a strong entity tag (RFC 9110 §8.8.3). */
export function contentOf(contentType: string, content: string | Uint8Array): PublicContent {
  const digest = createHash('sha256').update(content).digest('base64url')
  return { contentType, content, entityTag: `"${digest}"` }
}

/**
 * Answers 200 with the content, or 304 if the caller has it already (RFC 9110 §13.1.2). Only the
 * caller itself may keep it, and must ask again each time: an upgrade of the server changes it.
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
  respond(response, isKnown ? '' : content, options, {
    status: isKnown ? 304 : 200,
    contentType,
    cacheControl: 'private, no-cache',
    headers,
    // A body that came along is not read, and more of it would be taken for a request.
    closesConnection: options.shutdown.hasBegun || !response.req.complete,
  })
}

/** The files of a page, which the build has put into one folder. `names`: the file of each path. */
export function createPublicFiles(folder: URL, names: Readonly<Record<string, string>>) {
  const contents = new Map<string, PublicContent>()
  return {
    paths: Object.keys(names),
    /**
     * A file by one of `paths`, read at its first request and kept from then on.
     * @throws the error of readFile if the build is incomplete.
     */
    async read(path: string): Promise<PublicContent> {
      const name = names[path] as string
      const contentType = CONTENT_TYPES[name.slice(name.lastIndexOf('.') + 1)] as string
      const content =
        contents.get(path) ?? contentOf(contentType, await readFile(new URL(name, folder)))
      contents.set(path, content)
      return { ...content, headers: PAGE_HEADERS }
    },
  }
}
