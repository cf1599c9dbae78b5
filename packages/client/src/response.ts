import { errorNameOf, headerNames } from '@plant-store/contract'
import { appliedByError, appliedByPart, type BrokenOff, type ResponseHead } from './applied.ts'
import type { ErrorBody, ErrorName, Plant } from './contract-types.ts'
import { type ErrorFacts, PlantStoreError, type PlantStoreErrorCode } from './errors.ts'
import type { Decoded } from './plant-codec.ts'
import { decodeText, type ReadBody } from './read-body.ts'
import { isTransientStatus, parseRetryAfter } from './retry.ts'
import type { Scrub } from './scrubber.ts'

/** What an attempt came to: a plant, or an error and perhaps the Error body that it stands for. */
export interface Outcome {
  readonly head: ResponseHead | undefined
  /** Undefined also where the response says what it should, without a plant. */
  readonly plant?: Plant | undefined
  readonly errorBody?: ErrorBody
  readonly error?: PlantStoreError
}

/** What is known besides the response. */
export interface ResponseContext extends Omit<BrokenOff, 'head' | 'text'> {
  readonly url: URL
  readonly scrub: Scrub
  /** Milliseconds since 1970, for a Retry-After in a response without a Date. */
  readonly nowMs: number
  /** Whether fetch has certainly sent no other request than the one that was answered. */
  readonly isOnlyRequest: boolean
}

const codeByStatus: Readonly<Record<number, PlantStoreErrorCode>> = {
  400: 'rejected',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  413: 'too_large',
  429: 'rate_limited',
}

function codeOf(status: number, name: ErrorName | undefined): PlantStoreErrorCode {
  if (name === 'id_taken') return 'conflict'
  if (name === 'invalid_plant') return name
  return codeByStatus[status] ?? (status >= 500 ? 'server_error' : 'unexpected_status')
}

/** The error for a response with an Error body. */
export function apiError(
  status: number,
  { error: apiCode, message: apiMessage }: ErrorBody,
  { url, ...facts }: ErrorFacts & { readonly url?: URL },
): PlantStoreError {
  const apiName = errorNameOf(apiCode)
  const code = codeOf(status, apiName)
  const where = code === 'not_found' && url ? ` for ${url}` : ''
  return new PlantStoreError(
    code,
    `the plant store answered ${status}${where}: ${apiMessage} (${apiCode})`,
    {
      ...facts,
      ...{ status, apiCode, apiName, apiMessage },
      retryable: isTransientStatus(status),
      issues: code === 'invalid_plant' ? [{ path: [], message: apiMessage }] : [],
    },
  )
}

const MAX_SNIPPET = 80
const MAX_LOCATION = 200

/** What a status says of a response that is not the plant store's, whatever its body is. */
function explainStatus({ status, headers }: ResponseHead, scrub: Scrub): string | undefined {
  if (status === 407) return 'a proxy requires authentication'
  // A browser gives a redirect the status 0 and hides where it leads.
  if (status !== 0 && Math.floor(status / 100) !== 3) return undefined
  const location = scrub(headers.get('location') ?? '').slice(0, MAX_LOCATION)
  return `it is a redirect${location && ` to ${location}`}, which is not followed`
}

/** The error for a response that the contract does not know, such as a proxy's page. */
function unexpected(
  { status }: ResponseHead,
  url: URL,
  facts: ErrorFacts & Required<Pick<ErrorFacts, 'issues'>>,
): PlantStoreError {
  const why = facts.issues.map(({ path, message }) => [...path, message].join(' ')).join('; ')
  // The status of a wrong path, which may come from a wrong base URL.
  const where = status === 404 ? url.href : url.host
  const message = `the reply of ${where} with status ${status} is not one of the plant store's: ${why}`
  const retryable = isTransientStatus(status)
  return new PlantStoreError('unexpected_response', message, { ...facts, status, retryable })
}

/** What a response that arrived whole means. */
export function judgeResponse(
  head: ResponseHead,
  { bytes, isCut }: ReadBody,
  decoded: Decoded,
  { url, scrub, nowMs, isOnlyRequest, ...sent }: ResponseContext,
): Outcome {
  if ('plant' in decoded) return { head, plant: decoded.plant }
  const { status, headers } = head
  // By the server's clock, which the response may name: the caller's may be wrong.
  const date = Date.parse(headers.get('date') ?? '')
  const clock = Number.isNaN(date) ? nowMs : date
  const retryAfterMs = parseRetryAfter(headers.get(headerNames.retryAfter), clock)
  if ('errorBody' in decoded) {
    const { error, message } = decoded.errorBody
    const errorBody = { error, message: scrub(message) }
    const applied = appliedByError(status, error, isOnlyRequest)
    return { head, errorBody, error: apiError(status, errorBody, { applied, retryAfterMs, url }) }
  }
  const text = decodeText([bytes])
  const why = explainStatus(head, scrub)
  const error = unexpected(head, url, {
    contentType: scrub(headers.get(headerNames.contentType) ?? ''),
    issues: why === undefined ? decoded.issues : [{ path: [], message: why }],
    // Scrubbed before the cut, which might leave half a secret.
    snippet: scrub(text).slice(0, MAX_SNIPPET),
    // The server gives no whole JSON with 200 but a plant: this one is somebody else's.
    applied: isCut || decoded.isJson ? 'maybe' : appliedByPart({ head, text, ...sent }),
    retryAfterMs,
  })
  return { head, error }
}
