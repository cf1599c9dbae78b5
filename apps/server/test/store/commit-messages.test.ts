import { DatabaseSync } from 'node:sqlite'
import type { NewPlant } from '@plant-store/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type CommitReply,
  insertAll,
  outcomesOf,
  toRequest,
} from '../../src/sqlite/commit/commit-messages.ts'
import { toStoreError } from '../../src/sqlite/files/error-codes.ts'
import { type ColumnValue, toRow } from '../../src/store/plant-columns.ts'
import { toError, toSentError } from '../../src/store/sent-error.ts'
import {
  type CreateOutcome,
  OutcomeUnknownError,
  StoreUnavailableError,
} from '../../src/store/store.ts'

const plants = [
  { id: 2n ** 63n - 1n, name: 'Fern', tag: '' },
  { id: -1n, name: 'Moss' },
]

/** The rows that the other thread inserts. */
function rowsOf(batch: readonly NewPlant[]): ColumnValue[][] {
  const rows: ColumnValue[][] = []
  insertAll(structuredClone(toRequest(1, batch)), (row) => {
    rows.push([...row])
    return 'created'
  })
  return rows
}

test('a batch crosses to the other thread to the digit', () => {
  expect(rowsOf(plants)).toEqual([
    [2n ** 63n - 1n, 'Fern', ''],
    [-1n, 'Moss', null],
  ])
})

test('any batch crosses to the letter', () => {
  const text = fc.string({ unit: 'binary' })
  const plant = fc
    .tuple(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), text, fc.option(text))
    .map(([id, name, tag]) => (tag === null ? { id, name } : { id, name, tag }))
  fc.assert(
    fc.property(fc.array(plant), (batch) => {
      expect(rowsOf(batch)).toEqual(batch.map(toRow))
    }),
  )
})

test('each plant gets its own outcome', () => {
  const said = ['id_taken', 'created', 'already_there'] as const
  const batch = said.map((name, index) => ({ id: BigInt(index), name }))
  const request = toRequest(7, batch)
  const outcomes = insertAll(request, (row) => row[1] as CreateOutcome)
  expect(outcomesOf({ batch: 7, outcomes }, request)).toEqual(said)
})

describe('a reply of the thread gives no outcomes', () => {
  test.each<[string, unknown]>([
    ['to another batch', { batch: 6, outcomes: Uint8Array.of(0, 0) }],
    ['with one too few', { batch: 7, outcomes: Uint8Array.of(0) }],
    ['with one too many', { batch: 7, outcomes: Uint8Array.of(0, 0, 0) }],
    ['with an unknown one', { batch: 7, outcomes: Uint8Array.of(0, 3) }],
    ['with an unknown one too many', { batch: 7, outcomes: Uint8Array.of(0, 0, 3) }],
    ['with neither outcomes nor an error', { batch: 7 }],
    [
      'with an error of another batch',
      { batch: 6, error: toSentError(new StoreUnavailableError('the disk is full')) },
    ],
  ])('%s: what was stored is not known', (_what, reply) => {
    const get = () => outcomesOf(reply as CommitReply, toRequest(7, plants))
    expect(get).toThrow(OutcomeUnknownError)
  })
})

function failureOfSqlite(): unknown {
  const database = new DatabaseSync(':memory:')
  try {
    database.exec('PRAGMA query_only = ON; CREATE TABLE plants (id)')
  } catch (error) {
    return toStoreError(error, false)
  } finally {
    database.close()
  }
  return undefined
}

test.each([
  ['with a detail', new StoreUnavailableError('the disk is full', { detail: 'make room' })],
  ['that SQLite caused', failureOfSqlite()],
  ['that leaves the outcome open', new OutcomeUnknownError('lost', { cause: new Error('EIO') })],
  ['of another class', new TypeError('is not a function')],
])('an error %s crosses whole', (_what, thrown) => {
  const error = thrown as StoreUnavailableError
  const crossed = toError(structuredClone(toSentError(error)))
  expect(crossed).toBeInstanceOf(error instanceof TypeError ? Error : error.constructor)
  const { name, message, stack, detail } = error
  expect(crossed).toMatchObject({ name, message, stack, ...(detail ? { detail } : {}) })
  const cause = error.cause as Error | undefined
  if (cause === undefined) expect(crossed.cause).toBeUndefined()
  else expect(crossed.cause).toMatchObject({ ...cause, message: cause.message, stack: cause.stack })
})
