import { contract } from './contract.ts'
import { AUTHORIZATION_SCHEME, headerNames } from './headers.ts'
import type { JsonWritable } from './json.ts'
import { describeResponses, headerComponents } from './openapi/responses.ts'
import { bodyExamples, describeSchemas, referTo } from './openapi/schemas.ts'

const DESCRIPTION = `Creates plants in the store. An answer of 200 means that the plant is on stable storage.

The caller chooses the id, so a repeat cannot hurt: the same plant again is answered 200 again, and the same id with other content is refused. Every error has the same body and says whether something was stored.`

const OPERATION_DESCRIPTION = `Stores a plant under the id that the caller chose.

| Stored under this id | Answer |
| --- | --- |
| nothing | 200, and the plant is stored |
| the same name and tag | 200, the same body, with Idempotent-Replayed: true; nothing changes |
| another name or tag | 400 with error 40003; what is stored stays |`

const { contentType, method, path, summary } = contract.createPlant

/**
 * How OpenAPI says where the credential stands, by the header: a contract with another header does
 * not compile before it has its own.
 */
const securitySchemes = {
  authorization: {
    type: 'http',
    scheme: AUTHORIZATION_SCHEME.toLowerCase(),
    description: `Authorization: ${AUTHORIZATION_SCHEME} <ACCESS_TOKEN>, a token that the operator has made.`,
  },
}

/** The response for statuses to come; progenitor, which takes 3.0 alone, takes no document with it. */
const UNTAKEN = 'default'

/** One member. One that has the name of a keyword and holds an object is no keyword. */
function restateMember(name: string, member: JsonWritable): [name: string, member: JsonWritable] {
  if (name === 'examples' && Array.isArray(member)) return ['example', member[0] ?? null]
  if (name === 'const' && typeof member === 'string') return ['enum', [member]]
  return [name, restateFor30(member)]
}

/**
 * A part of the document in the terms of OpenAPI 3.0, whose schemas have one `example` and no
 * `const`. Of what the document uses, nothing else differs, so the part says the same of each
 * status that there is.
 */
function restateFor30(part: JsonWritable): JsonWritable {
  if (Array.isArray(part)) return part.map(restateFor30)
  if (typeof part !== 'object' || part === null) return part
  const restated = Object.entries(part).flatMap(([name, member]) =>
    member === undefined || name === UNTAKEN ? [] : [restateMember(name, member)],
  )
  return Object.fromEntries(restated)
}

/** A document as plain data, its largest numbers as bigints. */
export type OpenApiDocument = { readonly [key: string]: JsonWritable }

function describeOperation(): OpenApiDocument {
  return {
    operationId: 'createPlant',
    summary,
    description: OPERATION_DESCRIPTION,
    tags: ['plants'],
    requestBody: {
      description: 'The plant, as JSON in UTF-8.',
      required: true,
      content: {
        [contentType]: { schema: referTo('schemas', 'NewPlant'), examples: bodyExamples },
      },
    },
    responses: describeResponses(),
  }
}

const info = {
  title: 'OpenAPI Plant Store',
  /** That of the specification; what changes in our packages, their own versions tell. */
  version: '1.0.0',
  description: DESCRIPTION,
  contact: { name: 'Plant Store', url: 'https://github.com/plant-store/plant-store' },
  license: { name: 'MIT' },
}

/** What only one version of OpenAPI can say. */
const beginnings = {
  '3.1': {
    openapi: '3.1.0',
    info: {
      ...info,
      summary: 'A plant store over HTTP with JSON.',
      license: { ...info.license, identifier: 'MIT' },
    },
  },
  '3.0': {
    openapi: '3.0.3',
    info: { ...info, license: { ...info.license, url: 'https://opensource.org/license/mit' } },
  },
} as const satisfies { readonly [version: string]: OpenApiDocument }

/** A version of OpenAPI that the contract can be written in. */
export type OpenApiVersion = keyof typeof beginnings

function describeService(serverUrl: string): OpenApiDocument {
  return {
    servers: [{ url: serverUrl, description: 'The base address of the service' }],
    security: [{ bearerAuth: [] }],
    tags: [{ name: 'plants', description: 'Plants in the store' }],
    paths: { [path]: { [method.toLowerCase()]: describeOperation() } },
    components: {
      schemas: describeSchemas(),
      headers: headerComponents,
      securitySchemes: { bearerAuth: securitySchemes[headerNames.authorization] },
    },
  }
}

/**
 * The contract as an OpenAPI document, the same for the same contract.
 * `serverUrl` is the base address of the service; `/`, where the document itself is served, by
 * default. `version` is 3.1.0 by default; 3.0.3 says the same, for tools that know no 3.1.
 */
export function createOpenApiDocument(
  serverUrl = '/',
  version: OpenApiVersion = '3.1',
): OpenApiDocument {
  const service = describeService(serverUrl)
  const restated = version === '3.0' ? (restateFor30(service) as OpenApiDocument) : service
  return { ...beginnings[version], ...restated }
}

/** Not yet in the types of the language; Node.js has it from 22 on. */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown }

/**
 * A document as JSON text for people, every digit of its numbers kept. Needs Node.js 22 or later.
 */
export function formatOpenApiJson(document: OpenApiDocument): string {
  const writeExactly = (_key: string, value: unknown) =>
    typeof value === 'bigint' ? rawJSON(String(value)) : value
  return `${JSON.stringify(document, writeExactly, 2)}\n`
}
