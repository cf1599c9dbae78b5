import type { Express, Request, RequestHandler } from 'express'
import { type PipelineOptions, refuseMethod } from '../http/pipeline.ts'
import type { PublicPaths } from '../http/public-paths.ts'
import { type OpenApiFormat, openApiFormats, writeOpenApi } from './openapi-text.ts'
import { pagePaths, readPage } from './page.ts'
import { entityTagOf, sendPublic } from './send-public.ts'

export interface DocsParts extends PipelineOptions {
  /** Whether the OpenAPI document and its page are served at all. */
  readonly docs: boolean
  /** The base address of the service; undefined for the one that each request names. */
  readonly publicUrl: string | undefined
}

const documentPaths: Readonly<Record<string, OpenApiFormat>> = {
  '/openapi.json': 'json',
  '/openapi.yaml': 'yaml',
}

/** The paths of what `addDocs` adds. */
export function publicPathsOf({ docs }: Pick<DocsParts, 'docs'>): PublicPaths {
  return new Set(docs ? [...Object.keys(documentPaths), ...pagePaths] : [])
}

/** The base address that a request names, undefined where it names none that is a URL. */
function baseAddressOf({ headers: { host } }: Request): string | undefined {
  const address = `http://${host}`
  return host !== undefined && URL.canParse(address) ? address : undefined
}

function replyDocument(format: OpenApiFormat, parts: DocsParts): RequestHandler {
  const { contentType } = openApiFormats[format]
  return async (request, response) => {
    const content = await writeOpenApi(format, parts.publicUrl ?? baseAddressOf(request))
    const entityTag = entityTagOf(content)
    sendPublic(request, response, { contentType, content, entityTag }, parts)
  }
}

function replyPage(path: string, parts: DocsParts): RequestHandler {
  return async (request, response) => {
    sendPublic(request, response, await readPage(path), parts)
  }
}

/** Adds `GET /openapi.json`, `GET /openapi.yaml` and the page `GET /docs`, unless switched off. */
export function addDocs(app: Express, parts: DocsParts): void {
  if (!parts.docs) return
  const add = (path: string, reply: RequestHandler) =>
    app.route(path).get(reply).all(refuseMethod('GET', 'HEAD'))
  for (const [path, format] of Object.entries(documentPaths)) {
    add(path, replyDocument(format, parts))
  }
  for (const path of pagePaths) add(path, replyPage(path, parts))
}
