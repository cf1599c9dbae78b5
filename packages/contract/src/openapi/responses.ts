import { contract, SUCCESS_STATUS } from '../contract.ts'
import { type ErrorName, type ErrorStatus, errorTable } from '../error.ts'
import { AUTHORIZATION_SCHEME, headerNames, REPLAYED, REQUEST_ID } from '../headers.ts'
import type { JsonWritable } from '../json.ts'
import { errorsOf, errorTexts, listErrors } from './errors.ts'
import { plantExamples, referTo } from './schemas.ts'

type JsonObject = { readonly [key: string]: JsonWritable }
type Status = keyof (typeof contract)['createPlant']['responses']
type HeaderName = (typeof headerNames)[keyof typeof headerNames]

const { contentType, method, responses } = contract.createPlant

const CHALLENGE = `${AUTHORIZATION_SCHEME} realm="plant-store"`

/** What each status says in a word or two, before its errors are listed. */
const summaries: Readonly<Record<Status, string>> = {
  [SUCCESS_STATUS]:
    'The plant is on stable storage. A repeat of the same plant gets the same body.',
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

/** The headers of responses. */
const headers = {
  [headerNames.requestId]: {
    description:
      'The id of the request: the one that the caller sent under this name, if it is well formed, else a new UUID.',
    required: true,
    schema: {
      type: 'string',
      pattern: REQUEST_ID.pattern.source,
      minLength: 1,
      maxLength: REQUEST_ID.maxLength,
    },
    example: 'a7c1e1f0-8e0e-4f5c-9d4e-0f6b1a2c3d4e',
  },
  [headerNames.wwwAuthenticate]: {
    description:
      'The challenge (RFC 6750 §3): error="invalid_token" is added when a token was sent.',
    required: true,
    schema: { type: 'string', pattern: `^${CHALLENGE}`, maxLength: 1024 },
    example: `${CHALLENGE}, error="invalid_token"`,
  },
  [headerNames.allow]: {
    description: 'The methods that this path has.',
    required: true,
    schema: { type: 'string', const: method },
  },
  [headerNames.accept]: {
    description: 'The media type that would do, where another was sent.',
    schema: { type: 'string', const: contentType },
  },
  [headerNames.acceptEncoding]: {
    description: 'The content coding that would do, where another was sent.',
    schema: { type: 'string', const: 'identity' },
  },
  [headerNames.idempotentReplayed]: {
    description: 'The same plant was there before this request; a first store has no such header.',
    schema: { type: 'string', const: REPLAYED },
  },
  [headerNames.retryAfter]: {
    description: 'When to try again, in seconds.',
    required: true,
    schema: { type: 'integer', format: 'int32', minimum: 0, maximum: 2 ** 31 - 1 },
    example: 1,
  },
  [headerNames.rateLimit]: {
    description:
      'What is left for this token, where tokens have a rate (draft-ietf-httpapi-ratelimit-headers-11).',
    schema: { type: 'string', pattern: '^"token";r=\\d+;t=\\d+$', maxLength: 64 },
    example: '"token";r=9;t=1',
  },
  [headerNames.rateLimitPolicy]: {
    description: 'The rate of this token, where tokens have one.',
    schema: { type: 'string', pattern: '^"token";q=\\d+;w=\\d+$', maxLength: 64 },
    example: '"token";q=10;w=1',
  },
} satisfies { readonly [Name in HeaderName]?: JsonObject }

/** What is not written as words with a capital each. */
const spellings: Readonly<Record<string, string>> = { www: 'WWW', ratelimit: 'RateLimit' }

/** The usual spelling of a header name, such as `X-Request-Id`. */
function spell(name: string): string {
  const words = name.split('-')
  return words
    .map((word) => spellings[word] ?? word.replace(/^./, (c) => c.toUpperCase()))
    .join('-')
}

/** The headers of responses, described once, by name. */
export const headerComponents: JsonObject = Object.fromEntries(
  Object.entries(headers).map(([name, header]) => [spell(name), header]),
)

/** On every response that follows a good credential. */
const rate = [headerNames.rateLimit, headerNames.rateLimitPolicy] as const

const headersByStatus: Readonly<Partial<Record<Status, readonly (keyof typeof headers)[]>>> = {
  [SUCCESS_STATUS]: [headerNames.idempotentReplayed, ...rate],
  400: rate,
  401: [headerNames.wwwAuthenticate],
  404: rate,
  405: [headerNames.allow, ...rate],
  413: rate,
  415: [headerNames.accept, headerNames.acceptEncoding, ...rate],
  429: [headerNames.retryAfter, ...rate],
  503: [headerNames.retryAfter],
}

function describeHeaders(status: Status): JsonObject {
  const names = [headerNames.requestId, ...(headersByStatus[status] ?? [])].map(spell)
  return Object.fromEntries(names.map((name) => [name, referTo('headers', name)]))
}

function errorExample(name: ErrorName): JsonObject {
  const { meaning, message } = errorTexts[name]
  return { summary: meaning, value: { error: errorTable[name].code, message } }
}

function describeSuccess(): JsonObject {
  return {
    description: summaries[SUCCESS_STATUS],
    headers: describeHeaders(SUCCESS_STATUS),
    content: { [contentType]: { schema: referTo('schemas', 'Plant'), examples: plantExamples } },
  }
}

function describeFailure(status: ErrorStatus): JsonObject {
  const names = errorsOf(status)
  const examples = Object.fromEntries(names.map((name) => [name, errorExample(name)]))
  return {
    description: `${summaries[status]}\n\n${listErrors(names)}`,
    headers: describeHeaders(status),
    content: { [contentType]: { schema: referTo('schemas', 'Error'), examples } },
  }
}

/** A status that a later version may add: it is an Error, as every other one. */
const unknownFailure: JsonObject = {
  description: 'A status that a later version adds. The body is the same for every error.',
  headers: { [spell(headerNames.requestId)]: referTo('headers', spell(headerNames.requestId)) },
  content: { [contentType]: { schema: referTo('schemas', 'Error') } },
}

/** Every response that the contract declares for `createPlant`, by status, and those to come. */
export function describeResponses(): JsonObject {
  const statuses = Object.keys(responses).map(Number) as Status[]
  const described = statuses.map((status) => [
    String(status),
    status === SUCCESS_STATUS ? describeSuccess() : describeFailure(status),
  ])
  return { ...Object.fromEntries(described), default: unknownFailure }
}
