import { type ErrorName, type ErrorStatus, errorTable } from '../error.ts'
import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from '../json.ts'
import { INT64_MAX, INT64_MIN } from '../plant.ts'

interface ErrorText {
  /** When the server responds with it. */
  readonly meaning: string
  /** A message that comes with it. */
  readonly message: string
}

/** What the document says of each error; a new error without it does not compile. */
export const errorTexts: Readonly<Record<ErrorName, ErrorText>> = {
  malformed_request: {
    meaning:
      'The bytes are no HTTP request, one that HTTP/1.1 forbids, or one with an unknown method.',
    message: 'the request must have one Host header',
  },
  malformed_json: {
    meaning: `The body is not JSON in UTF-8, is empty, is nested deeper than ${MAX_JSON_DEPTH} levels, or holds more than ${MAX_JSON_VALUES} values.`,
    message: 'body: is not valid JSON',
  },
  invalid_plant: {
    meaning:
      'The body is JSON but no NewPlant; the message names the first problems by place and rule.',
    message: `id: must be an integer between ${INT64_MIN} and ${INT64_MAX}; name: is required`,
  },
  id_taken: {
    meaning: 'A plant with another name or tag is stored under this id; it stays as it is.',
    message: 'id: 7 is taken by a plant with other content',
  },
  missing_credentials: {
    meaning: 'The request carries no bearer token, or more than one Authorization header.',
    message: 'send a token as "Authorization: Bearer <ACCESS_TOKEN>"',
  },
  invalid_token: {
    meaning: 'The token is unknown, malformed, revoked or expired.',
    message: 'the token is not valid',
  },
  not_found: {
    meaning: 'There is nothing at this path; case and a trailing slash count.',
    message: 'there is nothing at this path',
  },
  method_not_allowed: {
    meaning: 'The path exists, but not with this method.',
    message: 'the methods here: POST',
  },
  request_timeout: {
    meaning: 'The request did not arrive in time.',
    message: 'the request did not arrive in time',
  },
  body_too_large: {
    meaning: 'The body is longer than the server takes, 64 KiB by default.',
    message: 'the body must not exceed 65536 bytes',
  },
  unsupported_media_type: {
    meaning:
      'The body is not application/json in UTF-8, or it is compressed; Accept and Accept-Encoding say what would do.',
    message: 'the body must be sent with "content-type: application/json", in UTF-8',
  },
  expectation_failed: {
    meaning: 'Expect asks for something other than 100-continue.',
    message: 'the only expectation met here is 100-continue',
  },
  too_many_requests: {
    meaning: 'A rate limit acted; Retry-After says when to come back.',
    message: 'too many requests from this address had no valid token',
  },
  headers_too_large: {
    meaning: 'The request line and headers, or the trailers, are more than 16 KiB, or 200 lines.',
    message: 'the request line and headers, or the trailers, are larger than 16 KiB',
  },
  internal: {
    meaning: 'Something unforeseen; the log of the server holds it under the request id.',
    message: 'something went wrong and nothing was stored',
  },
  outcome_unknown: {
    meaning:
      'The disk failed during the commit. The plant may have been stored; it is safe to send it again.',
    message: 'the plant may have been stored; it is safe to send it again',
  },
  unavailable: {
    meaning:
      'The server has more requests than it can answer in time, the disk is full, the database cannot be reached, or the server is ending; Retry-After says when to come back.',
    message:
      'nothing was stored, try again: the server has more requests than it can answer in time',
  },
}

/** The errors that a status can carry, in the order of their numbers. */
export function errorsOf(status: ErrorStatus): ErrorName[] {
  const names = Object.keys(errorTable) as ErrorName[]
  return names.filter((name) => errorTable[name].status === status)
}

function describeError(name: ErrorName): string {
  const { code, stored } = errorTable[name]
  const line = `- \`${code}\` \`${name}\`: ${errorTexts[name].meaning}`
  return stored === 'no' ? `${line} Nothing was stored.` : line
}

/** A list in CommonMark: number, name and meaning of each error, and whether something was stored. */
export function listErrors(names: readonly ErrorName[]): string {
  return names.map(describeError).join('\n')
}
