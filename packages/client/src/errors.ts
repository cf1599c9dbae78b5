import { errorNameOf } from '@plant-store/contract'
import type {
  ConnectionCode,
  PlantStoreAbortError,
  PlantStoreConnectionError,
  PlantStoreTimeoutError,
} from './connection-errors.ts'
import type { ErrorBody, ErrorName } from './contract-types.ts'
import { sendsOnce } from './environment.ts'
import {
  type Applied,
  isBranded,
  PlantStoreError,
  type PlantStoreIssue,
} from './plant-store-error.ts'
import { isTransientStatus } from './retry.ts'

type ConfigCode =
  | 'missing_token'
  | 'invalid_token'
  | 'invalid_base_url'
  | 'invalid_option'
  | 'token_provider_failed'

/**
 * An option cannot work, or the token function failed; nothing was sent with it.
 * The message never holds the option's value.
 */
export class PlantStoreConfigError extends PlantStoreError {
  override name = 'PlantStoreConfigError'
  declare readonly code: ConfigCode
  /** The name of the option. */
  readonly option: string

  constructor(code: ConfigCode, option: string, rule: string) {
    super(`${option} ${rule}`, code)
    this.option = option
  }
}

/** The plant is not one; nothing was sent. */
export class PlantStoreInputError extends PlantStoreError {
  override name = 'PlantStoreInputError'
  declare readonly code: 'invalid_plant'
  /** Where and why. */
  readonly issues: readonly PlantStoreIssue[]

  constructor(message: string, issues: readonly PlantStoreIssue[]) {
    super(message, 'invalid_plant')
    this.issues = issues
  }
}

type ApiCode =
  | 'rejected'
  | 'unauthorized'
  | 'forbidden'
  | 'conflict'
  | 'too_large'
  | 'rate_limited'
  | 'server_error'
  | 'unexpected_status'

const codeByStatus: Readonly<Record<number, ApiCode>> = {
  400: 'rejected',
  401: 'unauthorized',
  403: 'forbidden',
  409: 'conflict',
  413: 'too_large',
  429: 'rate_limited',
}

function codeOf(status: number, name: ErrorName | undefined): ApiCode {
  if (name === 'id_taken') return 'conflict'
  return codeByStatus[status] ?? (status >= 500 ? 'server_error' : 'unexpected_status')
}

/**
 * Whether an Error answer leaves the plant stored. The server promises that 4xx, 503 and `internal`
 * stored nothing; a body whose number does not begin with its status is not the server's promise.
 * The promise is for one request: where the runtime, or a fetch of the caller's, may have sent two, only a refusal that the
 * first must have met as well says it of both.
 */
function appliedBy(status: number, apiCode: number, isOnlyRequest: boolean): Applied {
  const isPromise = Math.floor(apiCode / 100) === status
  const isRefusal = (status >= 400 && status < 500) || status === 503
  if (!isPromise || !(isRefusal || errorNameOf(apiCode) === 'internal')) return 'maybe'
  return isOnlyRequest || !MAY_PASS.includes(status) ? 'no' : 'maybe'
}

/** Refusals that the same bytes need not meet again: credentials, time, load, faults. */
const MAY_PASS: readonly number[] = [401, 403, 408, 429, 500, 503]

/** The server answered with an Error body. */
export class PlantStoreApiError extends PlantStoreError {
  override name = 'PlantStoreApiError'
  declare readonly code: ApiCode
  /** HTTP status of the answer. */
  readonly status: number
  /** The stable number of the error, such as 40003. */
  readonly apiCode: number
  /** The name of that number in the contract, or undefined where this version does not know it. */
  readonly apiName: ErrorName | undefined
  /** The server's own words. */
  readonly apiMessage: string
  /** How long the server asks to wait, in milliseconds (Retry-After, RFC 9110 §10.2.3). */
  readonly retryAfterMs: number | undefined

  constructor(
    status: number,
    { error, message }: ErrorBody,
    retryAfterMs?: number,
    isOnlyRequest = sendsOnce(),
  ) {
    const apiName = errorNameOf(error)
    super(`the plant store answered ${status}: ${message} (${error})`, codeOf(status, apiName), {
      applied: appliedBy(status, error, isOnlyRequest),
      retryable: isTransientStatus(status),
    })
    this.status = status
    this.apiCode = error
    this.apiName = apiName
    this.apiMessage = message
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * What is known of the plant after one more attempt. A doubt once there stays, since an earlier
 * request may still arrive. But an id that is taken by another plant stays taken by it, as nothing
 * is ever overwritten or deleted: so no request before has stored this plant, and none ever will.
 */
export function nextApplied(before: Applied, error: PlantStoreError): Applied {
  const isTaken = error instanceof PlantStoreApiError && error.apiName === 'id_taken'
  if (isTaken && error.applied === 'no') return 'no'
  return before === 'yes' || error.applied === 'no' ? before : error.applied
}

/** An answer that is not one of the plant store's. */
export interface UnexpectedAnswer {
  readonly status: number
  readonly contentType: string | undefined
  readonly issues: readonly PlantStoreIssue[]
  readonly snippet: string
  readonly applied: Applied
  readonly retryAfterMs: number | undefined
}

/**
 * An answer arrived that the contract does not know, such as a proxy's page or a redirect, which
 * is not followed. Only an answer that repeats the request's id is known to be the server's.
 */
export class PlantStoreResponseError extends PlantStoreError {
  override name = 'PlantStoreResponseError'
  declare readonly code: 'unexpected_response'
  /** HTTP status of the answer; 0 for a redirect in a browser, which hides its status. */
  readonly status: number
  readonly contentType: string | undefined
  /** How the body differs from what the contract has for the status. */
  readonly issues: readonly PlantStoreIssue[]
  /** The first 80 characters of the body. */
  readonly snippet: string
  /** How long the answer asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined

  constructor(host: string, answer: UnexpectedAnswer) {
    const { status, contentType, issues, snippet, applied, retryAfterMs } = answer
    const why = issues.map(({ path, message }) => [...path, message].join(' ')).join('; ')
    super(
      `the answer of ${host} with status ${status} is not one of the plant store's: ${why}`,
      'unexpected_response',
      { applied, retryable: isTransientStatus(status) },
    )
    this.status = status
    this.contentType = contentType
    this.issues = issues
    this.snippet = snippet
    this.retryAfterMs = retryAfterMs
  }
}

/** Every error of the client: a `switch` over its `code` narrows it to its class. */
export type AnyPlantStoreError =
  | PlantStoreConfigError
  | PlantStoreInputError
  | PlantStoreApiError
  | (PlantStoreConnectionError & { readonly code: ConnectionCode })
  | PlantStoreTimeoutError
  | PlantStoreAbortError
  | PlantStoreResponseError

/** Whether this is an error of the client, also where another copy of the package made it. */
export function isPlantStoreError(value: unknown): value is AnyPlantStoreError {
  return isBranded(value)
}
