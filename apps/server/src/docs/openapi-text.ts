import { contract } from '@plant-store/contract'
import type { OpenApiDocument } from '@plant-store/contract/openapi'

/** How the document is written, by the extension of its name. */
export const openApiFormats = {
  json: { contentType: contract.createPlant.contentType, write: writeJson },
  yaml: { contentType: 'application/yaml', write: writeYaml },
} as const

export type OpenApiFormat = keyof typeof openApiFormats

async function writeJson(document: OpenApiDocument): Promise<string> {
  const { formatOpenApiJson } = await import('@plant-store/contract/openapi')
  return formatOpenApiJson(document)
}

async function writeYaml(document: OpenApiDocument): Promise<string> {
  const { stringify } = await import('yaml')
  return stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })
}

/**
 * The OpenAPI document as text. `publicUrl` is the base address of the service; without it the
 * document says `/`, which clients resolve against the address that they read it from.
 */
export async function writeOpenApi(format: OpenApiFormat, publicUrl?: string): Promise<string> {
  const { createOpenApiDocument } = await import('@plant-store/contract/openapi')
  return openApiFormats[format].write(createOpenApiDocument(publicUrl))
}
