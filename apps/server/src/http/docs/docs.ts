import { contract } from '@plant-store/contract'
import { type Request, type RequestHandler, Router } from 'express'
import { type PipelineOptions, refuseMethod } from '../pipeline.ts'
import { pathOf } from '../target.ts'
import { type OpenApiFormat, openApiFormats, writeOpenApi } from './openapi-text.ts'
import { page } from './page.ts'
import { entityTagOf, type PublicContent, sendPublic } from './send-public.ts'

/** What everybody may read, without a credential. */
export interface Docs {
  /** Whether a request is for a public path; its query does not matter. */
  isPublic(request: Pick<Request, 'url'>): boolean
  /** Answers requests for public paths; all others go on. */
  readonly reply: RequestHandler
}

const formats = Object.keys(openApiFormats) as OpenApiFormat[]

async function writeDocument(format: OpenApiFormat, publicUrl?: string): Promise<PublicContent> {
  const { contentType } = openApiFormats[format]
  const content = await writeOpenApi(format, publicUrl)
  return { contentType, content, entityTag: entityTagOf(content) }
}

/**
 * Serves the document in each of its formats and the page, `GET /docs`. `publicUrl` is the base
 * address of the service in the document, which says `/` without it, whatever Host a caller sends.
 */
export function createDocs(publicUrl: string | undefined, options: PipelineOptions): Docs {
  const router = Router({ caseSensitive: true, strict: true })
  const add = (path: string, read: () => Promise<PublicContent>) =>
    router
      .route(path)
      .get(async (_request, response) => sendPublic(response, await read(), options))
      .all(refuseMethod('GET', 'HEAD'))
  for (const format of formats) {
    // Made once, at the first request: strangers may ask often.
    let made: PublicContent | undefined
    add(openApiFormats[format].path, async () => (made ??= await writeDocument(format, publicUrl)))
  }
  for (const path of page.paths) add(path, () => page.read(path))

  const documentPaths = formats.map((format) => openApiFormats[format].path)
  const paths = new Set([...documentPaths, ...page.paths])
  // A create costs only the comparison of two strings.
  const isPublic = ({ url }: Pick<Request, 'url'>) =>
    url !== contract.createPlant.path && paths.has(pathOf(url))
  return {
    isPublic,
    reply: (request, response, next) =>
      isPublic(request) ? router(request, response, next) : next(),
  }
}
