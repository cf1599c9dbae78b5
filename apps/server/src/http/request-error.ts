import { type ErrorName, errorTable, headerNames } from '@plant-store/contract'

/** A Retry-After header (RFC 9110 §10.2.3) as name and value; 1 s by default, because overload passes quickly. */
export function retryAfter(seconds = 1): [name: string, value: string] {
  return [headerNames.retryAfter, String(seconds)]
}

/** An error after which the connection ends: nobody reads the rest, or can be sure where the request ends. */
export function lastError(errorName: ErrorName, message: string): RequestError {
  return new RequestError(errorName, message, { closesConnection: true })
}

/**
 * A request that is answered with an Error body, by its name in the contract.
 * `headers` go with the response, names and values in turn.
 */
export class RequestError extends Error {
  override name = 'RequestError'
  readonly errorName: ErrorName
  readonly headers: readonly string[]
  /** The rest of the body is not wanted, so the connection ends after the response. */
  readonly closesConnection: boolean

  constructor(
    errorName: ErrorName,
    message: string,
    options: ErrorOptions & { headers?: readonly string[]; closesConnection?: boolean } = {},
  ) {
    super(message, options)
    this.errorName = errorName
    this.headers = options.headers ?? []
    this.closesConnection = options.closesConnection ?? false
  }

  get status(): number {
    return errorTable[this.errorName].status
  }

  get code(): number {
    return errorTable[this.errorName].code
  }
}
