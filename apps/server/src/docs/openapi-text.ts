import { createHash } from 'node:crypto'
import type { OpenApiDocument } from '@plant-store/contract/openapi'

/** How the document is written, by the end of its name. */
export const openApiFormats = {
  json: { contentType: 'application/json', write: writeJson },
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
 * The OpenAPI document as text, the same for the same format and base address, which is `/` by
 * default. What it takes is loaded when it is first called, so that nobody else pays for it.
 */
export async function writeOpenApi(format: OpenApiFormat, serverUrl?: string): Promise<string> {
  const { createOpenApiDocument } = await import('@plant-store/contract/openapi')
  return openApiFormats[format].write(createOpenApiDocument(serverUrl))
}

/** A strong entity tag (RFC 9110 §8.8.3): other bytes, another tag. */
export function entityTagOf(content: string | Uint8Array): string {
  return `"${createHash('sha256').update(content).digest('base64url')}"`
}
