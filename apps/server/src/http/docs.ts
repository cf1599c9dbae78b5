import { contract } from '@plant-store/contract'
import { type NextFunction, type Request, type Response, Router } from 'express'
import { files } from '../process/files.ts'
import { pathOf } from './framing.ts'
import { type PipelineOptions, refuseMethod, respond } from './pipeline.ts'
import { contentOf, createPublicFiles, type PublicContent, sendPublic } from './public-files.ts'
import { endsConnection } from './response.ts'

/** How the document is written, and where it is served. */
export const openApiFormats = {
  json: { path: '/openapi.json', version: '3.1' },
  'json-3.0': { path: '/openapi-3.0.json', version: '3.0' },
} as const

export type OpenApiFormat = keyof typeof openApiFormats

/**
 * The OpenAPI document as text. `publicUrl` is the base address of the service; without it the
 * document says `/`, which clients resolve against the address that they read it from.
 */
export async function writeOpenApi(format: OpenApiFormat, publicUrl?: string): Promise<string> {
  const { createOpenApiDocument, formatOpenApiJson } = await import('@plant-store/contract/openapi')
  return formatOpenApiJson(createOpenApiDocument(publicUrl, openApiFormats[format].version))
}

/** Where the build puts the files of the page. */
const FOLDER = new URL('page/', files.built)

/** The page that explains `POST /plants` and sends real requests. */
export const page = createPublicFiles(FOLDER, {
  '/docs': 'index.html',
  '/docs/icon.svg': 'icon.svg',
  '/docs/page.css': 'page.css',
  '/docs/page.js': 'page.js',
})

const formats = Object.keys(openApiFormats) as OpenApiFormat[]

/** Relative, which holds under the prefix of a proxy too. */
const TO_THE_PAGE = { status: 303, headers: ['location', 'docs'] } as const

/** What a browser asks for first, where a person typed the server's address. */
function isFirstLook({ headers, method, url }: Request): boolean {
  if (pathOf(url) !== '/' || (method !== 'GET' && method !== 'HEAD')) return false
  return headers.accept?.includes('text/html') === true
}

/**
 * What everybody may read without a credential: the document in each of its formats, and the page at
 * `GET /docs`. `publicUrl` is the base address of the service in the document, which says `/` without
 * it, whatever Host a caller sends.
 */
export function createDocs(publicUrl: string | undefined, options: PipelineOptions) {
  const router = Router({ caseSensitive: true, strict: true })
  const add = (path: string, read: () => Promise<PublicContent>) =>
    router
      .route(path)
      .get(async (_request, response) => sendPublic(response, await read(), options))
      .all(refuseMethod('GET', 'HEAD'))
  for (const format of formats) {
    // Made once, at the first request: everybody may ask.
    let made: PublicContent | undefined
    add(openApiFormats[format].path, async () => {
      made ??= contentOf(contract.createPlant.contentType, await writeOpenApi(format, publicUrl))
      return made
    })
  }
  for (const path of page.paths) add(path, () => page.read(path))
  router.get('/', (request, response) => {
    const closesConnection = endsConnection(request, options)
    respond(response, '', options, { ...TO_THE_PAGE, closesConnection })
  })

  const documentPaths = formats.map((format) => openApiFormats[format].path)
  const paths = new Set([...documentPaths, ...page.paths])
  /** Whether a request is for a public path, or a browser's for `/`; its query does not matter. */
  const isPublic = (request: Request) =>
    // A create costs only the comparison of two strings.
    request.url !== contract.createPlant.path &&
    (paths.has(pathOf(request.url)) || isFirstLook(request))
  return {
    isPublic,
    /** Answers requests for public paths; all others go on. */
    respond: (request: Request, response: Response, next: NextFunction) =>
      isPublic(request) ? router(request, response, next) : next(),
  }
}
