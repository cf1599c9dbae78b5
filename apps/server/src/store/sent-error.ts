import { OutcomeUnknownError, StoreRefusedError, StoreUnavailableError } from './store.ts'

/** An error on its way to another thread, which would make a plain Error of it. */
export interface SentError {
  readonly className: string | undefined
  readonly message: string
  readonly stack: string | undefined
  readonly cause: SentError | undefined
  /** Such as `detail`, and the result code of SQLite. */
  readonly properties: Readonly<Record<string, unknown>>
}

type ErrorClasses = Readonly<Record<string, abstract new (...parts: never[]) => Error>>

const storeClasses: ErrorClasses = {
  StoreUnavailableError,
  OutcomeUnknownError,
  StoreRefusedError,
}

/** @param classes of errors, besides those of a store, that the other thread has to know again */
export function toSentError(thrown: unknown, classes: ErrorClasses = {}): SentError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const known = Object.entries({ ...storeClasses, ...classes })
  const isPlain = ([, value]: [string, unknown]) => Object(value) !== value
  return {
    className: known.find(([, ErrorClass]) => error instanceof ErrorClass)?.[0],
    message: error.message,
    stack: error.stack,
    cause: error.cause === undefined ? undefined : toSentError(error.cause, classes),
    properties: { name: error.name, ...Object.fromEntries(Object.entries(error).filter(isPlain)) },
  }
}

/** The error as it was: of its class where that is one of a store's or of `classes`, else an Error. */
export function toError(sent: SentError, classes: ErrorClasses = {}): Error {
  const { className, message, stack, cause, properties } = sent
  const options = cause === undefined ? {} : { cause: toError(cause, classes) }
  const error = Object.assign(new Error(message, options), properties)
  const ErrorClass = { ...storeClasses, ...classes }[className ?? '']
  if (ErrorClass !== undefined) Object.setPrototypeOf(error, ErrorClass.prototype)
  if (stack !== undefined) error.stack = stack
  return error
}
