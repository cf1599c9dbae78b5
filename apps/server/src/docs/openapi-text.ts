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
  const { stringify } = await import('./yaml.ts')
  return stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })
}

/** A placeholder for the base address. */
const BASE_ADDRESS = 'the-base-address'
const QUOTED_BASE_ADDRESS = new RegExp(`"?${BASE_ADDRESS}"?`)

const templates = new Map<OpenApiFormat, string>()

async function makeTemplate(format: OpenApiFormat): Promise<string> {
  const { createOpenApiDocument } = await import('@plant-store/contract/openapi')
  return openApiFormats[format].write(createOpenApiDocument(BASE_ADDRESS))
}

/**
 * The OpenAPI document as text, the same for the same format and base address.
 * The text is made once, at the first request: strangers may ask often, and for many addresses.
 */
export async function writeOpenApi(format: OpenApiFormat, baseAddress = '/'): Promise<string> {
  const template = templates.get(format) ?? (await makeTemplate(format))
  templates.set(format, template)
  // A JSON string is a YAML string too.
  return template.replace(QUOTED_BASE_ADDRESS, () => JSON.stringify(baseAddress))
}
