import type { ErrorName } from './contract-types.ts'

/** What went wrong, for a `switch`; stable across versions. */
export type PlantStoreErrorCode =
  // An option cannot work.
  | 'missing_token'
  | 'invalid_token'
  | 'invalid_base_url'
  | 'invalid_option'
  | 'token_provider_failed'
  // An Error of the server, or of the client itself for what is no plant.
  | 'invalid_plant'
  | 'rejected'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'too_large'
  | 'rate_limited'
  | 'server_error'
  | 'unexpected_status'
  // No whole response arrived.
  | 'connection_failed'
  | 'connection_lost'
  | 'tls_failed'
  | 'attempt_timeout'
  | 'total_timeout'
  | 'aborted'
  // A response that is not one of the plant store's.
  | 'unexpected_response'

/**
 * Whether the plant was stored: `no` and `yes` are certain, `maybe` is all that can be known.
 * Where it is not `no`, it is safe to send the same plant again; the response then says for certain.
 */
export type Applied = 'no' | 'maybe' | 'yes'

/** A rule that a value broke, and where: `{ path: ['id'], message: 'is required' }`. */
export interface PlantStoreIssue {
  /** The names on the way to the value; empty for the whole. */
  readonly path: readonly string[]
  /** The rule, in words for people. */
  readonly message: string
}

/** By registry, so that it is the same in another copy of this package. */
const BRAND = Symbol.for('plant-store.error')

/** What the maker of an error knows besides its code and its message. */
export type ErrorFacts = Partial<Omit<PlantStoreError, 'name' | 'message' | 'stack' | 'toJSON'>>

/** Everything that the client throws. It holds no request, no header, no body and no token. */
export class PlantStoreError extends Error {
  override readonly name = 'PlantStoreError'
  /** What went wrong, for a `switch`. */
  readonly code: PlantStoreErrorCode
  /** Whether the plant was stored, by this request or an earlier one of the same call. */
  readonly applied: Applied = 'no'
  /** True where the same call may succeed later. */
  readonly retryable: boolean = false
  /** Requests sent; 0 where nothing was. */
  readonly attempts: number = 0
  /** What is wrong with a plant (`invalid_plant`) or a response, and where; else empty. */
  readonly issues: readonly PlantStoreIssue[] = []
  /** The id under which the server's log has the call; undefined where nothing was sent. */
  declare readonly requestId?: string
  /** HTTP status of the response; 0 for a redirect in a browser, which hides its status. */
  declare readonly status?: number | undefined
  /** The stable number of the server's Error, such as 40003. */
  declare readonly apiCode?: number
  /** The name of that number in the contract; undefined where this version does not know it. */
  declare readonly apiName?: ErrorName | undefined
  /** The server's own words. */
  declare readonly apiMessage?: string
  /** How long the response asks to wait, in milliseconds (Retry-After, RFC 9110 §10.2.3). */
  declare readonly retryAfterMs?: number | undefined
  /** The name of the option that cannot work. */
  declare readonly option?: string
  /** Of a connection, the runtime's own word, such as ECONNREFUSED, ENOTFOUND or UND_ERR_SOCKET. */
  declare readonly reason?: string
  /** The limit that was reached, in milliseconds. */
  declare readonly timeoutMs?: number
  /** The first 80 characters of the body of an unexpected response. */
  declare readonly snippet?: string

  constructor(code: PlantStoreErrorCode, message: string, facts: ErrorFacts = {}) {
    const { cause, ...fields } = facts
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    Object.assign(this, fields)
  }

  /** An error of another copy of this package is one, too. */
  static override [Symbol.hasInstance](value: unknown): value is PlantStoreError {
    return isPlantStoreError(value)
  }

  get [BRAND](): true {
    return true
  }

  /** The fields that it has, without causes and stacks: those worth a log line. */
  toJSON(): Readonly<Record<string, unknown>> {
    const { name, code, message, issues, ...facts } = this
    return { name, code, message, ...facts, ...(issues.length > 0 && { issues }) }
  }
}

/** Whether this is an error of the client, also where another copy of the package made it. */
export function isPlantStoreError(value: unknown): value is PlantStoreError {
  return typeof value === 'object' && value !== null && BRAND in value
}

/** The error for an option that cannot work. Its message never holds the option's value. */
export function optionError(
  option: string,
  rule: string,
  code: PlantStoreErrorCode = 'invalid_option',
): PlantStoreError {
  return new PlantStoreError(code, `${option} ${rule}`, { option })
}

/** The error of a call that its caller aborted; its cause is the reason of the signal. */
export function abortError(reason: unknown, applied: Applied): PlantStoreError {
  return new PlantStoreError('aborted', 'the call was aborted', { applied, cause: reason })
}
