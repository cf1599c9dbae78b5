import type { MessagePort } from 'node:worker_threads'
import type { NewPlant } from '@plant-store/contract'
import { type ColumnValue, contentFields, plantColumns } from '../../store/plant-columns.ts'
import { type SentError, toError } from '../../store/sent-error.ts'
import {
  type CreateOutcome,
  createOutcomes,
  isCreateOutcome,
  OutcomeUnknownError,
} from '../../store/store.ts'
import type { KnownFile } from '../files/known-files.ts'
import type { SharedCopierState } from './copier-state.ts'

/** What the thread is started with. */
export interface CommitWorkerData {
  readonly path: string
  readonly files: readonly KnownFile[]
  readonly copier: SharedCopierState
}

/** One end of the way of a thread's plants to the thread that commits. */
export interface CommitEnd {
  readonly port: MessagePort
  /** In shared memory: the plants that the thread has taken and not sent yet. */
  readonly held: Int32Array
}

/**
 * To `serve` an end is to take each CommitRequest from its port and to reply with a CommitReply; `stop`:
 * take nothing more; `close`: commit what was sent, and end.
 */
export type ThreadOrder = { readonly serve: CommitEnd } | 'stop' | 'close'

/** What the thread sends: that it cannot trust the file any more, or has a log to be copied. */
export type ThreadNotice = { readonly fault: SentError } | 'start copier'

/** A batch as few values: each string or object that crosses a thread boundary costs time. */
export interface CommitRequest {
  /** Counts the batches of a port; the reply has the same number. */
  readonly batch: number
  readonly ids: BigInt64Array
  /** All other values as text, one after the other: for each plant in the order of contentFields. */
  readonly text: string
  /** The UTF-16 units of each value, or ABSENT. */
  readonly lengths: Int32Array
}

const ABSENT = -1

export type CommitReply = { readonly batch: number } & (
  | {
      /** For each plant the place of its outcome in createOutcomes. */
      readonly outcomes: Uint8Array
      /** How long the COMMIT statement took; in one reply of each transaction. */
      readonly statementMs?: number | undefined
    }
  | { readonly error: SentError }
)

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
 * Inserts the plants of a batch, in order, and gives the outcomes as a reply has them. `insertRow`
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
 * The outcomes in the reply to a request.
 * @throws OutcomeUnknownError unless the reply has one for each plant of this very batch; the error
 * of the commit, where it failed.
 */
export function outcomesOf(reply: CommitReply, { batch, ids }: CommitRequest): CreateOutcome[] {
  if ('error' in reply && reply.batch === batch) throw toError(reply.error)
  const places = 'outcomes' in reply ? Array.from(reply.outcomes) : []
  const outcomes = places.map((place) => createOutcomes[place]).filter(isCreateOutcome)
  if (outcomes.length === ids.length && places.length === ids.length && reply.batch === batch) {
    return outcomes
  }
  throw new OutcomeUnknownError('the thread that commits did not reply to the batch that it has')
}
