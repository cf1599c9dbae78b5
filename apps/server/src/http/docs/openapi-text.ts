import { contract } from '@plant-store/contract'
import type { OpenApiDocument, OpenApiVersion } from '@plant-store/contract/openapi'

interface Format {
  readonly path: string
  readonly contentType: string
  readonly version: OpenApiVersion
  readonly write: (document: OpenApiDocument) => Promise<string>
}

const { contentType: JSON_TYPE } = contract.createPlant

/** How the document is written, and where it is served. */
export const openApiFormats = {
  json: { path: '/openapi.json', contentType: JSON_TYPE, version: '3.1', write: writeJson },
  yaml: {
    path: '/openapi.yaml',
    contentType: 'application/yaml',
    version: '3.1',
    write: writeYaml,
  },
  'json-3.0': {
    path: '/openapi-3.0.json',
    contentType: JSON_TYPE,
    version: '3.0',
    write: writeJson,
  },
} as const satisfies { readonly [name: string]: Format }

export type OpenApiFormat = keyof typeof openApiFormats

async function writeJson(document: OpenApiDocument): Promise<string> {
  const { formatOpenApiJson } = await import('@plant-store/contract/openapi')
  return formatOpenApiJson(document)
}

async function writeYaml(document: OpenApiDocument): Promise<string> {
  const { stringify } = await import('./yaml.ts')
  return stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })
}

/**
 * The OpenAPI document as text. `publicUrl` is the base address of the service; without it the
 * document says `/`, which clients resolve against the address that they read it from.
 */
export async function writeOpenApi(format: OpenApiFormat, publicUrl?: string): Promise<string> {
  const { createOpenApiDocument } = await import('@plant-store/contract/openapi')
  const { version, write } = openApiFormats[format]
  return write(createOpenApiDocument(publicUrl, version))
}
