import type { NewPlant } from '@plant-store/contract'
import { type ColumnValue, contentFields, plantColumns } from '../store/plant-columns.ts'
import {
  type CreateOutcome,
  createOutcomes,
  OutcomeUnknownError,
  StoreUnavailableError,
} from '../store/store.ts'

/** A batch as few values: each string or object that crosses a thread boundary costs time. */
export interface CommitRequest {
  /** Counts the batches; the response has the same number. */
  readonly batch: number
  readonly ids: BigInt64Array
  /** All other values as text, one after the other: for each plant in the order of contentFields. */
  readonly text: string
  /** The UTF-16 units of each value, or ABSENT. */
  readonly lengths: Int32Array
}

const ABSENT = -1

/** The error of a commit: as an Error it would cross without its class. */
interface SentError {
  /** Of the cause: an Error crosses without them. */
  readonly codes: { readonly code: unknown; readonly errcode: unknown }
  readonly className: string
  readonly message: string
  readonly cause: unknown
}

export type CommitResponse = { readonly batch: number } & (
  | {
      /** For each plant the place of its outcome in createOutcomes. */
      readonly outcomes: Uint8Array
      /** How long the COMMIT statement took. */
      readonly statementMs: number
    }
  | { readonly error: SentError }
)

export function toSentError(error: Error): SentError {
  const { name: className, message, cause = error } = error
  const { code, errcode } = cause as { readonly code?: unknown; readonly errcode?: unknown }
  return { className, message, cause, codes: { code, errcode } }
}

function toError({ className, message, cause, codes }: SentError): Error {
  if (cause instanceof Error) Object.assign(cause, codes)
  if (className === 'StoreUnavailableError') return new StoreUnavailableError(message, { cause })
  if (className === 'OutcomeUnknownError') return new OutcomeUnknownError(message, { cause })
  return new Error(message, { cause })
}

export function toRequest(batch: number, plants: readonly NewPlant[]): CommitRequest {
  const ids = new BigInt64Array(plants.length)
  const lengths = new Int32Array(plants.length * contentFields.length).fill(ABSENT)
  let text = ''
  let place = 0
  plants.forEach((plant, index) => {
    ids[index] = plant.id
    for (const field of contentFields) {
      const value = plant[field]
      if (value !== undefined) {
        const written = String(value)
        text += written
        lengths[place] = written.length
      }
      place++
    }
  })
  return { batch, ids, text, lengths }
}

/**
 * Inserts the plants of a batch, in order, and gives the outcomes as a response has them. `insertRow`
 * gets a row in the order of plantFields, which begins with the id; it must not keep it.
 */
export function insertAll(
  { ids, text, lengths }: CommitRequest,
  insertRow: (row: readonly ColumnValue[]) => CreateOutcome,
): Uint8Array {
  const row: ColumnValue[] = []
  let place = 0
  let end = 0
  return Uint8Array.from(ids, (id) => {
    row[0] = id
    contentFields.forEach((field, index) => {
      const length = lengths[place++] ?? ABSENT
      const start = end
      if (length !== ABSENT) end += length
      row[index + 1] =
        length === ABSENT ? null : plantColumns[field].fromSql(text.slice(start, end))
    })
    return createOutcomes.indexOf(insertRow(row))
  })
}

/**
 * The outcomes in the response to a request.
 * @throws OutcomeUnknownError unless the response has one for each plant of this very batch; the
 * error of the commit, where it failed.
 */
export function outcomesOf(
  response: CommitResponse,
  { batch, ids }: CommitRequest,
): CreateOutcome[] {
  if ('error' in response && response.batch === batch) throw toError(response.error)
  const places = 'outcomes' in response ? Array.from(response.outcomes) : []
  const outcomes = places
    .map((place) => createOutcomes[place])
    .filter((outcome) => outcome !== undefined)
  if (outcomes.length === ids.length && places.length === ids.length && response.batch === batch) {
    return outcomes
  }
  throw new OutcomeUnknownError('the thread that commits did not respond to the batch that it has')
}
