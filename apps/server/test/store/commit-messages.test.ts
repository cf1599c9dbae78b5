import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import {
  type CommitReply,
  outcomesOf,
  toError,
  toRequest,
  toRows,
  toSentError,
} from '../../src/engines/sqlite/commit/commit-messages.ts'
import { toStoreError } from '../../src/engines/sqlite/files/error-codes.ts'
import { OutcomeUnknownError, StoreUnavailableError } from '../../src/store/store.ts'

const plants = [
  { id: 2n ** 63n - 1n, name: 'Fern', tag: '' },
  { id: -1n, name: 'Moss' },
]

test('a batch crosses to the other thread to the digit', () => {
  expect(toRows(structuredClone(toRequest(1, plants)))).toEqual([
    [2n ** 63n - 1n, 'Fern', ''],
    [-1n, 'Moss', null],
  ])
})

describe('a reply of the thread gives no outcomes', () => {
  test.each<[string, unknown]>([
    ['to another batch', { batch: 6, outcomes: ['created', 'created'], statementMs: 1 }],
    ['with one too few', { batch: 7, outcomes: ['created'], statementMs: 1 }],
    ['with one too many', { batch: 7, outcomes: Array(3).fill('created'), statementMs: 1 }],
    ['with an unknown one', { batch: 7, outcomes: ['created', 'stored'], statementMs: 1 }],
    ['with holes', { batch: 7, outcomes: new Array(2), statementMs: 1 }],
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
