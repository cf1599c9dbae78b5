import { Ajv2020 } from 'ajv/dist/2020.js'
import type { DataValidationCxt } from 'ajv/dist/types/index.js'
import { exactIntegerOf, parseExactly } from './exact-json.ts'

/** Whether an integer is allowed by a keyword of a schema; none is by one that has no rule here. */
const keywords = {
  minimum: (integer: bigint, schema: object) =>
    integer >= (exactIntegerOf(schema, 'minimum') ?? Number.NaN),
  maximum: (integer: bigint, schema: object) =>
    integer <= (exactIntegerOf(schema, 'maximum') ?? Number.NaN),
  format: (integer: bigint, { format = '' }: { readonly format?: string }) =>
    BigInt.asIntN(Number(/^int(\d+)$/.exec(format)?.[1]), integer) === integer,
}

interface Content {
  readonly content: { readonly 'application/json': { readonly schema: object } }
}

interface OpenApiDocument {
  readonly paths: {
    readonly '/plants': {
      readonly post: { requestBody: Content; responses: Readonly<Record<string, Content>> }
    }
  }
  readonly components: object
}

export type DocumentValidator = ReturnType<typeof createDocumentValidator>

/**
 * What an OpenAPI document says of the bodies of `POST /plants`, by Ajv for JSON Schema 2020-12. It
 * decides everything but the bounds of integers: those are compared as bigints, because JavaScript's
 * numbers are doubles.
 */
export function createDocumentValidator(documentText: string) {
  const { paths, components } = parseExactly(documentText) as OpenApiDocument
  // Without the schema of schemas, whose numbers were not read exactly.
  const options = { meta: false, validateSchema: false }
  const ajv = new Ajv2020({ ...options, strictTypes: false, ownProperties: true })
  for (const [keyword, isAllowed] of Object.entries(keywords)) {
    ajv.removeKeyword(keyword)
    ajv.addKeyword({
      keyword,
      type: 'number',
      compile: (_value: unknown, schema: object) => (_data: unknown, place?: DataValidationCxt) => {
        const integer = place && exactIntegerOf(place.parentData, place.parentDataProperty)
        return integer !== undefined && isAllowed(integer, schema)
      },
    })
  }
  // Where the references of the schemas lead to, and what OpenAPI 3.0 has for `examples`.
  ajv.addVocabulary(['components', 'example'])
  const compile = ({ content }: Content) =>
    ajv.compile({ ...content['application/json'].schema, components })
  const { requestBody, responses } = paths['/plants'].post
  const isRequestBody = compile(requestBody)
  const ofStatus = Object.entries(responses).map(([status, one]) => [status, compile(one)] as const)
  const isResponseBody = new Map(ofStatus)
  return {
    /** Whether a value that `parseExactly` gave is a body that the operation takes. */
    isRequestBody: (value: unknown): boolean => isRequestBody(value),
    /** Whether it is a body that is answered with a status. */
    isResponseBody: (status: number, value: unknown): boolean =>
      isResponseBody.get(String(status))?.(value) === true,
  }
}
