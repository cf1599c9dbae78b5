import { Ajv2020, type FuncKeywordDefinition } from 'ajv/dist/2020.js'
import type { DataValidationCxt } from 'ajv/dist/types/index.js'
import { exactIntegerOf, parseExactly } from './exact-json.ts'

type IsAllowed = (integer: bigint) => boolean

/** A keyword that judges an integer as it was written, where Ajv would judge the nearest double. */
function exactKeyword(
  keyword: string,
  compile: (schema: object) => IsAllowed,
): FuncKeywordDefinition {
  return {
    keyword,
    type: 'number',
    compile(_value: unknown, schema: object) {
      const isAllowed = compile(schema)
      return (_data: unknown, place?: DataValidationCxt) => {
        const integer = place && exactIntegerOf(place.parentData, place.parentDataProperty)
        return integer !== undefined && isAllowed(integer)
      }
    },
  }
}

function boundOf(schema: object, keyword: 'minimum' | 'maximum'): bigint {
  const bound = exactIntegerOf(schema, keyword)
  if (bound === undefined) throw new Error(`a ${keyword} that is no integer has no rule here`)
  return bound
}

/** The bits of the formats that OpenAPI has for integers. */
const formats: Readonly<Record<string, number>> = { int32: 32, int64: 64 }

function isOfFormat(format: string): IsAllowed {
  const bits = formats[format]
  if (bits === undefined) throw new Error(`the format ${format} has no rule here`)
  return (integer) => BigInt.asIntN(bits, integer) === integer
}

const exactKeywords: readonly FuncKeywordDefinition[] = [
  exactKeyword('minimum', (schema) => {
    const bound = boundOf(schema, 'minimum')
    return (integer) => integer >= bound
  }),
  exactKeyword('maximum', (schema) => {
    const bound = boundOf(schema, 'maximum')
    return (integer) => integer <= bound
  }),
  exactKeyword('format', (schema) => isOfFormat((schema as { format: string }).format)),
]

/** What an OpenAPI document says of bodies, judged by a JSON Schema validator. */
export interface DocumentValidator {
  /** Whether a value that `parseExactly` gave is a body that the operation takes. */
  isRequestBody(value: unknown): boolean
  /** Whether it is a body that is answered with a status. */
  isResponseBody(status: number, value: unknown): boolean
}

interface OperationSchemas {
  readonly requestBody: Content
  readonly responses: Readonly<Record<string, Content>>
}

interface Content {
  readonly content: { readonly 'application/json': { readonly schema: object } }
}

interface OpenApiDocument {
  readonly paths: { readonly '/plants': { readonly post: OperationSchemas } }
  readonly components: object
}

/**
 * Ajv for JSON Schema 2020-12 on the schemas of `POST /plants`. It decides everything but the
 * bounds of integers: those are compared as bigints, because JavaScript's numbers are doubles.
 */
export function createDocumentValidator(documentText: string): DocumentValidator {
  const { paths, components } = parseExactly(documentText) as OpenApiDocument
  // Without the schema of schemas, whose numbers were not read exactly.
  const options = { meta: false, validateSchema: false }
  const ajv = new Ajv2020({ ...options, strictTypes: false, ownProperties: true })
  for (const definition of exactKeywords) {
    ajv.removeKeyword(String(definition.keyword))
    ajv.addKeyword(definition)
  }
  // Where the references of the schemas lead to, and what OpenAPI 3.0 has for `examples`.
  ajv.addVocabulary(['components', 'example'])
  const compile = ({ content }: Content) =>
    ajv.compile({ ...content['application/json'].schema, components })
  const { requestBody, responses } = paths['/plants'].post
  const isRequestBody = compile(requestBody)
  const isResponseBody = new Map(
    Object.entries(responses).map(([status, response]) => [status, compile(response)]),
  )
  return {
    isRequestBody,
    isResponseBody: (status, value) => isResponseBody.get(String(status))?.(value) === true,
  }
}
