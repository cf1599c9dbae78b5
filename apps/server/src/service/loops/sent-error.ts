import { ConfigError } from '../../settings/config.ts'
import { StoreRefusedError, StoreUnavailableError } from '../../store/store.ts'

/** An error as it crosses to another thread, which would forget its class. */
export interface SentError {
  readonly name: string
  /** Its own properties, such as message, stack, code. */
  readonly properties: Readonly<Record<string, unknown>>
}

/** Those that tell the process more than that something went wrong. */
const CLASSES: Readonly<Record<string, { readonly prototype: Error }>> = {
  ConfigError,
  StoreRefusedError,
  StoreUnavailableError,
}

/** What can be sent: a cause becomes text. */
function toSent(value: unknown): unknown {
  if (value instanceof Error) return value.stack
  return typeof value === 'object' || typeof value === 'function' ? undefined : value
}

export function toSentError(thrown: unknown): SentError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const names = Object.getOwnPropertyNames(error) as (keyof Error)[]
  return {
    name: error.name,
    properties: Object.fromEntries(names.map((name) => [name, toSent(error[name])])),
  }
}

/** The error that was sent. */
export function toError({ name, properties }: SentError): Error {
  const error = new Error('')
  Object.setPrototypeOf(error, CLASSES[name]?.prototype ?? Error.prototype)
  return Object.assign(error, properties)
}
