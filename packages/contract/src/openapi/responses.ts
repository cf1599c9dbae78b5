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

/** The headers that are described once, by name. */
export const headerComponents: JsonObject = {
  'X-Request-Id': {
    description:
      'The id of the request: the one that the caller sent under this name, if it is well formed, else a new UUID.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]+$', minLength: 1, maxLength: 128 },
    example: 'a7c1e1f0-8e0e-4f5c-9d4e-0f6b1a2c3d4e',
  },
  'WWW-Authenticate': {
    description:
      'The challenge (RFC 6750 §3): error="invalid_token" is added when a token was sent.',
    required: true,
    schema: { type: 'string', pattern: '^Bearer realm="plant-store"', maxLength: 1024 },
    example: 'Bearer realm="plant-store", error="invalid_token"',
  },
  Allow: {
    description: 'The methods that this path has.',
    required: true,
    schema: { type: 'string', const: contract.createPlant.method },
  },
  Accept: {
    description: 'The media type that would do, where another was sent.',
    schema: { type: 'string', const: 'application/json' },
  },
  'Accept-Encoding': {
    description: 'The content coding that would do, where another was sent.',
    schema: { type: 'string', const: 'identity' },
  },
  'Retry-After': {
    description: 'When to try again, in seconds.',
    required: true,
    schema: { type: 'integer', format: 'int32', minimum: 0, maximum: 2 ** 31 - 1 },
    example: 1,
  },
  RateLimit: {
    description:
      'What is left for this token, where tokens have a rate (draft-ietf-httpapi-ratelimit-headers-11).',
    schema: { type: 'string', pattern: '^"token";r=\\d+;t=\\d+$', maxLength: 64 },
    example: '"token";r=9;t=1',
  },
  'RateLimit-Policy': {
    description: 'The rate of this token, where tokens have one.',
    schema: { type: 'string', pattern: '^"token";q=\\d+;w=\\d+$', maxLength: 64 },
    example: '"token";q=10;w=1',
  },
}

/** On what is answered after the credential was found good. */
const rate = ['RateLimit', 'RateLimit-Policy'] as const

const headersByStatus: Partial<Record<Status, readonly string[]>> = {
  200: rate,
  400: rate,
  401: ['WWW-Authenticate'],
  404: rate,
  405: ['Allow', ...rate],
  413: rate,
  415: ['Accept', 'Accept-Encoding', ...rate],
  429: ['Retry-After', ...rate],
  503: ['Retry-After'],
}

function describeHeaders(status: Status): JsonObject {
  const names = ['X-Request-Id', ...(headersByStatus[status] ?? [])]
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
