import {
  type Applied,
  type ConnectionCode,
  type ErrorFacts,
  PlantStoreError,
  type TimeoutCode,
} from './plant-store-error.ts'

/**
 * No whole reply arrived. `connection_failed`: no connection was made. `connection_lost`: it broke,
 * or the runtime does not say. `tls_failed`: no TLS, or a certificate that is not trusted; not retried.
 */
export class PlantStoreConnectionError extends PlantStoreError {
  override name = 'PlantStoreConnectionError'
  declare readonly code: ConnectionCode | TimeoutCode
  /** The runtime's own word for it, such as ECONNREFUSED, ENOTFOUND or UND_ERR_SOCKET. */
  readonly reason: string
  /** The host of the base URL. */
  readonly host: string
  /** The port of the base URL, also where that is the scheme's own. */
  readonly port: number

  constructor(url: URL, code: ConnectionCode | TimeoutCode, reason: string, facts: ErrorFacts) {
    super(`no reply from ${url.host}: ${reason}`, code, facts)
    this.reason = reason
    this.host = url.hostname
    this.port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  }
}

/** The time of one attempt (`attempt_timeout`) or of the whole call (`total_timeout`) ran out. */
export class PlantStoreTimeoutError extends PlantStoreConnectionError {
  override name = 'PlantStoreTimeoutError'
  declare readonly code: TimeoutCode
  /** The limit that was reached, in milliseconds. */
  readonly timeoutMs: number

  constructor(url: URL, code: TimeoutCode, timeoutMs: number, applied: Applied) {
    super(url, code, `${code} of ${timeoutMs} ms`, { applied, retryable: true })
    this.timeoutMs = timeoutMs
  }
}
