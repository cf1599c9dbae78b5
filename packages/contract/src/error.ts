import * as z from 'zod/mini'

/**
 * Every way in which a request can fail, by name.
 * `code`, which travels as `error` (three digits of status, two of detail), is stable; `stored` says
 * whether this request may have stored the plant, `retry` whether the same may succeed later.
 */
export const errorTable = {
  malformed_request: { code: 40000, status: 400, stored: 'no', retry: false },
  malformed_json: { code: 40001, status: 400, stored: 'no', retry: false },
  invalid_plant: { code: 40002, status: 400, stored: 'no', retry: false },
  id_taken: { code: 40003, status: 400, stored: 'no', retry: false },
  missing_credentials: { code: 40100, status: 401, stored: 'no', retry: false },
  invalid_token: { code: 40101, status: 401, stored: 'no', retry: false },
  not_found: { code: 40400, status: 404, stored: 'no', retry: false },
  method_not_allowed: { code: 40500, status: 405, stored: 'no', retry: false },
  request_timeout: { code: 40800, status: 408, stored: 'no', retry: true },
  body_too_large: { code: 41300, status: 413, stored: 'no', retry: false },
  unsupported_media_type: { code: 41500, status: 415, stored: 'no', retry: false },
  expectation_failed: { code: 41700, status: 417, stored: 'no', retry: false },
  too_many_requests: { code: 42900, status: 429, stored: 'no', retry: true },
  headers_too_large: { code: 43100, status: 431, stored: 'no', retry: false },
  internal: { code: 50000, status: 500, stored: 'no', retry: true },
  outcome_unknown: { code: 50001, status: 500, stored: 'maybe', retry: true },
  unavailable: { code: 50300, status: 503, stored: 'no', retry: true },
} as const

export type ErrorName = keyof typeof errorTable
export type ErrorStatus = (typeof errorTable)[ErrorName]['status']

/** The body of every response but 200. */
export const ErrorBody = z.object({
  error: z.int32('must be an integer of 32 bits'),
  message: z.string('must be a string'),
})
export type ErrorBody = z.infer<typeof ErrorBody>

const nameByCode = new Map<number, ErrorName>(
  Object.entries(errorTable).map(([name, { code }]) => [code, name as ErrorName]),
)

/** The name of an error code, or undefined for a code that this version does not know. */
export function errorNameOf(code: number): ErrorName | undefined {
  return nameByCode.get(code)
}
