import { readFile } from 'node:fs/promises'
import { entityTagOf, type Form, type PublicContent } from './send-public.ts'

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
