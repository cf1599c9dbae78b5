import { isTransientStatus } from '../retry.ts'
import { type Applied, PlantStoreError, type PlantStoreIssue } from './plant-store-error.ts'

/** A reply that is not one of the plant store's. */
export interface UnexpectedReply {
  readonly status: number
  readonly contentType: string | undefined
  readonly issues: readonly PlantStoreIssue[]
  readonly snippet: string
  readonly applied: Applied
  readonly retryAfterMs: number | undefined
}

/**
 * A reply arrived that the contract does not know, such as a proxy's page or a redirect, which
 * is not followed. Only a reply that repeats the request's id is known to be the server's.
 */
export class PlantStoreResponseError extends PlantStoreError {
  override name = 'PlantStoreResponseError'
  declare readonly code: 'unexpected_response'
  /** HTTP status of the reply; 0 for a redirect in a browser, which hides its status. */
  readonly status: number
  /** The Content-Type of the reply; undefined where it has none. */
  readonly contentType: string | undefined
  /** How the body differs from what the contract has for the status. */
  readonly issues: readonly PlantStoreIssue[]
  /** The first 80 characters of the body. */
  readonly snippet: string
  /** How long the reply asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined

  constructor(url: URL, reply: UnexpectedReply) {
    const { status, contentType, issues, snippet, applied, retryAfterMs } = reply
    const why = issues.map(({ path, message }) => [...path, message].join(' ')).join('; ')
    // The status of a wrong path, which may come from a wrong base URL.
    const where = status === 404 ? url.href : url.host
    super(
      `the reply of ${where} with status ${status} is not one of the plant store's: ${why}`,
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
