import { readFile } from 'node:fs/promises'
import { entityTagOf, type PublicContent } from './send-public.ts'

/** Where the build puts the files of the page; the path is right from the sources and from the build. */
const FILES = new URL('../../dist/page/', import.meta.url)

const HTML = 'text/html; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'
const STYLE = 'text/css; charset=utf-8'

/** The files of the page, by the path at which each is served. */
const files: Readonly<Record<string, { readonly name: string; readonly contentType: string }>> = {
  '/docs': { name: 'index.html', contentType: HTML },
  '/docs/icon.svg': { name: 'icon.svg', contentType: 'image/svg+xml' },
  '/docs/page.css': { name: 'page.css', contentType: STYLE },
  '/docs/page.js': { name: 'page.js', contentType: SCRIPT },
  '/docs/swagger-ui.css': { name: 'swagger-ui.css', contentType: STYLE },
  '/docs/swagger-ui-bundle.js': { name: 'swagger-ui-bundle.js', contentType: SCRIPT },
}

export const pagePaths = Object.keys(files)

/** Everything comes from and goes to this server; the page has no inline script and no inline style. */
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

const contents = new Map<string, PublicContent>()

async function readContent(path: string): Promise<PublicContent> {
  const { name, contentType } = files[path] as (typeof files)[string]
  const content = await readFile(new URL(name, FILES))
  return { contentType, content, entityTag: entityTagOf(content), headers: PAGE_HEADERS }
}

/**
 * A file of the page by one of `pagePaths`, read at its first request and kept from then on.
 * @throws the error of readFile if the build is incomplete.
 */
export async function readPage(path: string): Promise<PublicContent> {
  const content = contents.get(path) ?? (await readContent(path))
  contents.set(path, content)
  return content
}
