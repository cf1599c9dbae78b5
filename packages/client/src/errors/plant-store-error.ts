/** What is wrong with an option. */
export type ConfigCode =
  | 'missing_token'
  | 'invalid_token'
  | 'invalid_base_url'
  | 'invalid_option'
  | 'token_provider_failed'

/** What an Error of the server means. */
export type ApiCode =
  | 'rejected'
  | 'unauthorized'
  | 'forbidden'
  | 'conflict'
  | 'too_large'
  | 'rate_limited'
  | 'server_error'
  | 'unexpected_status'

/** Why no whole reply arrived. */
export type ConnectionCode = 'connection_failed' | 'connection_lost' | 'tls_failed'

/** Which time ran out. */
export type TimeoutCode = 'attempt_timeout' | 'total_timeout'

/** What went wrong, for a `switch`; stable across versions. */
export type PlantStoreErrorCode =
  | ConfigCode
  | 'invalid_plant'
  | ApiCode
  | ConnectionCode
  | TimeoutCode
  | 'aborted'
  | 'unexpected_response'

/**
 * Whether the plant was stored: `no` and `yes` are certain, `maybe` is all that can be known.
 * Where it is not `no`, it is safe to send the same plant again; the reply then says for certain.
 */
export type Applied = 'no' | 'maybe' | 'yes'

/** A rule that a value broke, and where: `{ path: ['id'], message: 'is required' }`. */
export interface PlantStoreIssue {
  readonly path: readonly string[]
  readonly message: string
}

/** The fields of an error that toJSON gives, where it has them. Never a cause, never a stack. */
export const JSON_FIELDS = [
  'name',
  'code',
  'message',
  'applied',
  'retryable',
  'attempts',
  'requestId',
  'status',
  'apiCode',
  'apiName',
  'apiMessage',
  'retryAfterMs',
  'option',
  'issues',
  'reason',
  'host',
  'port',
  'timeoutMs',
  'contentType',
  'snippet',
] as const

/** An error as JSON: those of these fields that it has. */
export type PlantStoreErrorJson = { readonly [Field in (typeof JSON_FIELDS)[number]]?: unknown }

/** What the maker of an error knows besides its message and code. */
export interface ErrorFacts {
  readonly applied?: Applied
  readonly retryable?: boolean
  readonly cause?: unknown
}

/** By registry, so that it is the same in another copy of this package. */
const BRAND = Symbol.for('plant-store.error')

/** Everything that the client throws. It holds no request, no header, no body and no token. */
export class PlantStoreError extends Error {
  override name = 'PlantStoreError'
  readonly code: PlantStoreErrorCode
  /** Whether the plant was stored, by this request or an earlier one of the same call. */
  readonly applied: Applied
  /** True where the same call may succeed later. */
  readonly retryable: boolean
  /** Requests sent; 0 where nothing was. */
  readonly attempts: number = 0
  /** The id under which the server's log has the call; undefined where nothing was sent. */
  declare readonly requestId?: string

  constructor(message: string, code: PlantStoreErrorCode, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.code = code
    this.applied = facts.applied ?? 'no'
    this.retryable = facts.retryable ?? false
  }

  get [BRAND](): true {
    return true
  }

  /** The fields worth a log line, always the same ones. */
  toJSON(): PlantStoreErrorJson {
    const fields = this as Readonly<Record<string, unknown>>
    const present = JSON_FIELDS.filter((field) => fields[field] !== undefined)
    return Object.fromEntries(present.map((field) => [field, fields[field]]))
  }
}

/** Whether this is an error of the client, also where another copy of the package made it. */
export function isBranded(value: unknown): value is PlantStoreError {
  return typeof value === 'object' && value !== null && BRAND in value
}

/** What only the call knows: an attempt makes the error before its call has ended. */
export type CallFacts = Pick<PlantStoreError, 'applied' | 'attempts' | 'requestId'>

/** Writes the facts of a call into its error, once, before the caller gets it and may rely on them. */
export function completeError(error: PlantStoreError, facts: CallFacts): void {
  const writable: { -readonly [Fact in keyof CallFacts]: CallFacts[Fact] } = error
  Object.assign(writable, facts)
}

/** Whether the reply behind an error had one of these statuses. */
export function hasStatus(error: PlantStoreError, ...statuses: readonly number[]): boolean {
  return 'status' in error && statuses.includes(error.status as number)
}

/** The wait that the reply behind an error asked for, in milliseconds. */
export function retryAfterOf(error: PlantStoreError): number | undefined {
  return (error as { readonly retryAfterMs?: number }).retryAfterMs
}
