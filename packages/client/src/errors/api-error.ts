import { errorNameOf } from '@plant-store/contract'
import type { ErrorBody, ErrorName } from '../contract-types.ts'
import { isTransientStatus } from '../retry.ts'
import {
  type ApiCode,
  type Applied,
  PlantStoreError,
  type PlantStoreIssue,
} from './plant-store-error.ts'

const codeByStatus: Readonly<Record<number, ApiCode>> = {
  400: 'rejected',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  413: 'too_large',
  429: 'rate_limited',
}

function codeOf(status: number, name: ErrorName | undefined): ApiCode {
  if (name === 'id_taken') return 'conflict'
  if (name === 'invalid_plant') return name
  return codeByStatus[status] ?? (status >= 500 ? 'server_error' : 'unexpected_status')
}

/** The server replied with an Error body. */
export class PlantStoreApiError extends PlantStoreError {
  override name = 'PlantStoreApiError'
  declare readonly code: ApiCode
  /** HTTP status of the reply. */
  readonly status: number
  /** The stable number of the error, such as 40003. */
  readonly apiCode: number
  /** The name of that number in the contract, or undefined where this version does not know it. */
  readonly apiName: ErrorName | undefined
  /** The server's own words. */
  readonly apiMessage: string
  /** Why the plant is none, in the server's words, where `code` is `invalid_plant`. */
  declare readonly issues?: readonly PlantStoreIssue[]
  /** How long the server asks to wait, in milliseconds (Retry-After, RFC 9110 §10.2.3). */
  readonly retryAfterMs: number | undefined

  constructor(
    status: number,
    { error, message }: ErrorBody,
    {
      applied,
      retryAfterMs,
      url,
    }: {
      readonly applied: Applied
      readonly retryAfterMs?: number | undefined
      readonly url?: URL | undefined
    },
  ) {
    const apiName = errorNameOf(error)
    const code = codeOf(status, apiName)
    const where = code === 'not_found' && url ? ` for ${url}` : ''
    super(`the plant store answered ${status}${where}: ${message} (${error})`, code, {
      applied,
      retryable: isTransientStatus(status),
    })
    if (code === 'invalid_plant') this.issues = [{ path: [], message }]
    this.status = status
    this.apiCode = error
    this.apiName = apiName
    this.apiMessage = message
    this.retryAfterMs = retryAfterMs
  }
}
