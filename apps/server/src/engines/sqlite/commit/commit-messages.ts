import type { MessagePort } from 'node:worker_threads'
import type { NewPlant } from '@plant-store/contract'
import { type ColumnValue, contentFields } from '../../../store/plant-columns.ts'
import {
  type CreateOutcome,
  isCreateOutcome,
  OutcomeUnknownError,
  StoreRefusedError,
  StoreUnavailableError,
} from '../../../store/store.ts'
import type { KnownFile } from '../files/known-files.ts'

/** What the thread is started with. */
export interface CommitWorkerData {
  readonly path: string
  readonly files: readonly KnownFile[]
}

/**
 * To `serve` a port is to take each CommitRequest from it and to reply with a CommitReply; `stop`:
 * take nothing more; `close`: commit what was sent, and end. The thread itself sends a SentError when
 * it cannot trust the file any more.
 */
export type ThreadOrder = { readonly serve: MessagePort } | 'stop' | 'close'

/** A batch as columns: a few arrays cross a thread boundary faster than many objects. */
export interface CommitRequest {
  /** Counts the batches of the thread; the reply has the same number. */
  readonly batch: number
  readonly ids: BigInt64Array
  /** The other columns, in the order of contentFields. */
  readonly contents: readonly (readonly ColumnValue[])[]
}

export type CommitReply = { readonly batch: number } & (
  | {
      readonly outcomes: readonly CreateOutcome[]
      /** How long the COMMIT statement took; in one reply of each transaction. */
      readonly statementMs?: number | undefined
    }
  | { readonly error: SentError }
)

export function toRequest(batch: number, plants: readonly NewPlant[]): CommitRequest {
  return {
    batch,
    ids: BigInt64Array.from(plants, ({ id }) => id),
    contents: contentFields.map((field) => plants.map((plant) => plant[field] ?? null)),
  }
}

/** The rows of a batch, in the order of plantFields, which begins with the id. */
export function toRows({ ids, contents }: CommitRequest): ColumnValue[][] {
  return Array.from(ids, (id, index) => [id, ...contents.map((column) => column[index] ?? null)])
}

/**
 * The outcomes in the reply to a request.
 * @throws OutcomeUnknownError unless the reply has one for each plant of this very batch; the error
 * of the commit, where it failed.
 */
export function outcomesOf(reply: CommitReply, { batch, ids }: CommitRequest): CreateOutcome[] {
  if ('error' in reply && reply.batch === batch) throw toError(reply.error)
  const outcomes = 'outcomes' in reply ? Array.from(reply.outcomes) : []
  const isWhole = outcomes.length === ids.length && outcomes.every(isCreateOutcome)
  if (isWhole && reply.batch === batch) return outcomes
  throw new OutcomeUnknownError('the thread that commits did not reply to the batch that it has')
}

/** An error on its way to another thread, which would make a plain Error of it. */
export interface SentError {
  readonly className: string | undefined
  readonly message: string
  readonly stack: string | undefined
  readonly cause: SentError | undefined
  /** Such as `detail`, and the result code of SQLite. */
  readonly properties: Readonly<Record<string, unknown>>
}

const classes = { StoreUnavailableError, OutcomeUnknownError, StoreRefusedError }

export function toSentError(thrown: unknown): SentError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const isPlain = ([, value]: [string, unknown]) => Object(value) !== value
  return {
    className: Object.entries(classes).find(([, ErrorClass]) => error instanceof ErrorClass)?.[0],
    message: error.message,
    stack: error.stack,
    cause: error.cause === undefined ? undefined : toSentError(error.cause),
    properties: { name: error.name, ...Object.fromEntries(Object.entries(error).filter(isPlain)) },
  }
}

/** The error as it was: of its class where that is one of a store's, else an Error. */
export function toError({ className, message, stack, cause, properties }: SentError): Error {
  const options = cause === undefined ? {} : { cause: toError(cause) }
  const ErrorClass = classes[className as keyof typeof classes] ?? Error
  const error = Object.assign(new ErrorClass(message, options), properties)
  if (stack !== undefined) error.stack = stack
  return error
}
