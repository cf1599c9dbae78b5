import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Response } from 'express'
import { type PipelineOptions, respond } from './pipeline.ts'

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
  respond(response, isKnown ? '' : content, options, {
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

/** The files of a page, which the build has put into one folder, each compressed beside it. */
export interface PublicFiles {
  readonly paths: readonly string[]
  /**
   * A file by one of `paths`, read at its first request and kept from then on.
   * @throws the error of readFile if the build is incomplete.
   */
  read(path: string): Promise<PublicContent>
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

/** `names`: the file of each path. */
export function createPublicFiles(
  folder: URL,
  names: Readonly<Record<string, string>>,
): PublicFiles {
  const contents = new Map<string, PublicContent>()

  async function readForm(name: string): Promise<Form> {
    const content = await readFile(new URL(name, folder))
    return { content, entityTag: entityTagOf(content) }
  }

  async function readContent(path: string): Promise<PublicContent> {
    const name = names[path] as string
    const contentType = CONTENT_TYPES[name.slice(name.lastIndexOf('.') + 1)] as string
    const plain = await readForm(name)
    const compressed = { br: await readForm(`${name}.br`), gzip: await readForm(`${name}.gz`) }
    return { contentType, ...plain, compressed, headers: PAGE_HEADERS }
  }

  return {
    paths: Object.keys(names),
    async read(path) {
      const content = contents.get(path) ?? (await readContent(path))
      contents.set(path, content)
      return content
    },
  }
}
