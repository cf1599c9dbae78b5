import { contract } from '../contract.ts'
import { type ErrorName, type ErrorStatus, errorTable } from '../error.ts'
import type { JsonWritable } from '../json.ts'
import { errorsOf, errorTexts, listErrors } from './errors.ts'
import { plantExamples, referTo } from './schemas.ts'

type JsonObject = { readonly [key: string]: JsonWritable }
type Status = keyof (typeof contract)['createPlant']['responses']

/** What each status says in a word or two, before its errors are listed. */
const summaries: Readonly<Record<Status, string>> = {
  200: 'The plant is on stable storage. A repeat of the same plant is answered in the same way.',
  400: 'Unexpected error: the request is refused.',
  401: 'The credential is missing or not valid.',
  404: 'Another path.',
  405: 'Another method.',
  408: 'The request took too long to arrive.',
  413: 'The body is too large.',
  415: 'The media type of the body is not supported.',
  417: 'The expectation cannot be met.',
  429: 'Too many requests.',
  431: 'The headers are too large.',
  500: 'The server failed.',
  503: 'The server cannot store plants now.',
}

function textHeader(description: string, example: string, isRequired = true): JsonObject {
  return { description, required: isRequired, schema: { type: 'string' }, example }
}

/** The headers that are described once, by name. */
export const headerComponents: JsonObject = {
  'x-request-id': textHeader(
    'The id of the request: the one that the caller sent as x-request-id, if it is 1 to 128 of A-Z a-z 0-9 . _ -, else a new UUID.',
    'a7c1e1f0-8e0e-4f5c-9d4e-0f6b1a2c3d4e',
  ),
  'www-authenticate': textHeader(
    'The challenge (RFC 6750): error="invalid_token" is added when a token was sent.',
    'Bearer realm="plant-store", error="invalid_token"',
  ),
  allow: textHeader('The methods that this path has.', 'POST'),
  accept: textHeader('The media type that would do.', 'application/json', false),
  'accept-encoding': textHeader('The content coding that would do.', 'identity', false),
  'retry-after': {
    description: 'When to try again, in seconds.',
    required: true,
    schema: { type: 'integer', format: 'int32', minimum: 0, maximum: 2 ** 31 - 1 },
    example: 1,
  },
}

const headersByStatus: Partial<Record<Status, readonly string[]>> = {
  401: ['www-authenticate'],
  405: ['allow'],
  415: ['accept', 'accept-encoding'],
  429: ['retry-after'],
  503: ['retry-after'],
}

function describeHeaders(status: Status): JsonObject {
  const names = ['x-request-id', ...(headersByStatus[status] ?? [])]
  return Object.fromEntries(names.map((name) => [name, referTo('headers', name)]))
}

function errorExample(name: ErrorName): JsonObject {
  const { meaning, message } = errorTexts[name]
  return { summary: meaning, value: { error: errorTable[name].code, message } }
}

function describeSuccess(): JsonObject {
  return {
    description: summaries[200],
    headers: describeHeaders(200),
    content: {
      'application/json': { schema: referTo('schemas', 'Plant'), examples: plantExamples },
    },
  }
}

function describeFailure(status: ErrorStatus): JsonObject {
  const names = errorsOf(status)
  const examples = Object.fromEntries(names.map((name) => [name, errorExample(name)]))
  return {
    description: `${summaries[status]}\n\n${listErrors(names)}`,
    headers: describeHeaders(status),
    content: { 'application/json': { schema: referTo('schemas', 'Error'), examples } },
  }
}

/** Every response that the contract declares for `createPlant`, by status. */
export function describeResponses(): JsonObject {
  const statuses = Object.keys(contract.createPlant.responses).map(Number) as Status[]
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      status === 200 ? describeSuccess() : describeFailure(status),
    ]),
  )
}
