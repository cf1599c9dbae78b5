import type { AnyPlant, Observed } from './built-pair.ts'
import { CONTRACT, type Edit } from './workspace-copy.ts'

/** A change of the contract, and how the rest of the code meets it. */
export interface ContractChange {
  readonly name: string
  readonly edit: Edit
  /** Every file that the compiler stops at, in order; none where everything follows by itself. */
  readonly stops?: readonly string[]
  /** Fields that a plant of the changed contract has besides those of ours, or in another form. */
  readonly fields?: AnyPlant
  /** What is to be seen of the change between the built client and the built server. */
  readonly wire?: Partial<Observed>
}

const PLANT = `${CONTRACT}/src/plant.ts`
const OPERATION = `${CONTRACT}/src/contract.ts`
const HEADERS = `${CONTRACT}/src/headers.ts`
const ERROR = `${CONTRACT}/src/error.ts`

const DESCRIPTIONS = 'packages/contract/src/openapi/schemas.ts'
const SECURITY_SCHEME = 'packages/contract/src/openapi.ts'
const RESPONSES = 'packages/contract/src/openapi/responses.ts'
const ERROR_TEXTS = 'packages/contract/src/openapi/errors.ts'
const COLUMNS = 'apps/server/src/store/plant-columns.ts'
const HANDLER = 'apps/server/src/http/create-plant.ts'

const ID_TAKEN = 'id_taken: { code: 40003, status: 400 }'

export const contractChanges: readonly ContractChange[] = [
  {
    name: 'a required field',
    edit: [PLANT, '{ id, ...Plant.shape }', '{ id, owner: text, ...Plant.shape }'],
    stops: [DESCRIPTIONS, COLUMNS],
    fields: { owner: 'Ada' },
  },
  {
    name: 'an optional field',
    edit: [PLANT, 'tag: z.optional(text)', 'tag: z.optional(text), height: z.optional(z.int32())'],
    stops: [DESCRIPTIONS, COLUMNS],
    fields: { height: 3 },
  },
  {
    name: 'another name for a field',
    edit: [PLANT, 'tag: z.optional(text)', 'type: z.optional(text)'],
    stops: [DESCRIPTIONS, COLUMNS],
    fields: { type: 'fern', tag: undefined },
  },
  {
    name: 'a wider type',
    edit: [PLANT, 'tag: z.optional(text)', 'tag: z.optional(z.nullable(text))'],
    stops: [COLUMNS],
    fields: { tag: null },
  },
  {
    name: 'a field that became required',
    edit: [PLANT, 'tag: z.optional(text)', 'tag: text'],
    stops: [COLUMNS],
  },
  {
    name: 'a rule that the client does not know',
    edit: [PLANT, '.check(z.regex(STORABLE_TEXT,', '.check(z.maxLength(9), z.regex(STORABLE_TEXT,'],
    // The client has the schemas without zod, by a few functions of its own.
    stops: [PLANT],
  },
  {
    name: 'a narrower limit',
    edit: [PLANT, 'INT64_MAX = 2n ** 63n - 1n', 'INT64_MAX = 2n ** 63n - 2n'],
    wire: { largestId: ['invalid_plant', 40002] },
  },
  {
    name: 'another status',
    edit: [OPERATION, 'SUCCESS_STATUS = 200', 'SUCCESS_STATUS = 201'],
    wire: { statuses: [201, 201, 400], largestId: ['stored', 201] },
  },
  {
    name: 'a dropped status',
    edit: [ERROR, '  request_timeout: { code: 40800, status: 408 },\n', ''],
    stops: [ERROR_TEXTS, RESPONSES, 'apps/server/src/http/connection-errors.ts'],
  },
  {
    name: 'another path',
    edit: [OPERATION, "path: '/plants'", "path: '/greenhouse'"],
    wire: { request: 'POST /greenhouse' },
  },
  {
    name: 'another method',
    edit: [OPERATION, "method: 'POST'", "method: 'PUT'"],
    wire: { request: 'PUT /plants', allow: 'PUT' },
  },
  {
    name: 'another header for the token',
    edit: [HEADERS, "authorization: 'authorization'", "authorization: 'x-token'"],
    // HTTP knows a bearer token in one header only, so the document has no words for another.
    stops: [SECURITY_SCHEME],
    wire: { credential: 'x-token' },
  },
  {
    name: 'another number for an error',
    edit: [ERROR, ID_TAKEN, 'id_taken: { code: 40004, status: 400 }'],
    wire: { refusal: ['conflict', 40004, 'id_taken'] },
  },
  {
    name: 'another status for an error',
    edit: [ERROR, ID_TAKEN, 'id_taken: { code: 40900, status: 409 }'],
    stops: [RESPONSES],
    wire: { statuses: [200, 200, 409], refusal: ['conflict', 40900, 'id_taken'] },
  },
  {
    name: 'another name for an error',
    edit: [ERROR, 'id_taken:', 'id_in_use:'],
    stops: [
      ERROR_TEXTS,
      'packages/client/src/applied.ts',
      'packages/client/src/errors/api-error.ts',
      HANDLER,
    ],
  },
  {
    name: 'one more error',
    edit: [ERROR, ID_TAKEN, `${ID_TAKEN}, too_many_plants: { code: 40004, status: 400 }`],
    stops: [ERROR_TEXTS],
  },
  {
    name: 'a field added to the reply',
    edit: [
      OPERATION,
      '[SUCCESS_STATUS]: Plant',
      '[SUCCESS_STATUS]: z.extend(Plant, { position: z.int32() })',
    ],
    stops: [HANDLER],
  },
  {
    name: 'a field dropped from the reply',
    edit: [OPERATION, '[SUCCESS_STATUS]: Plant', '[SUCCESS_STATUS]: z.pick(Plant, { name: true })'],
  },
]
