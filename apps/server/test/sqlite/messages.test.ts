import type { NewPlant } from '@plant-store/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type CommitResponse,
  insertAll,
  outcomesOf,
  toRequest,
  toSentError,
} from '../../src/sqlite/messages.ts'
import { type ColumnValue, toRow } from '../../src/store/plant-columns.ts'
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
  expect(outcomesOf({ batch: 7, outcomes, statementMs: 1 }, request)).toEqual(said)
})

describe('a response of the thread gives no outcomes', () => {
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
  ])('%s: what was stored is not known', (_what, response) => {
    const get = () => outcomesOf(response as CommitResponse, toRequest(7, plants))
    expect(get).toThrow(OutcomeUnknownError)
  })
})

test.each([
  new StoreUnavailableError('the disk is full', { cause: new Error('ENOSPC') }),
  new OutcomeUnknownError('lost', { cause: new Error('EIO') }),
  new TypeError('is not a function'),
])('an error crosses with its class, its message and what caused it: %s', (error) => {
  const response = structuredClone({ batch: 7, error: toSentError(error) })
  let crossed: Error | undefined
  try {
    outcomesOf(response, toRequest(7, plants))
  } catch (thrown) {
    crossed = thrown as Error
  }
  expect(crossed).toBeInstanceOf(error instanceof TypeError ? Error : error.constructor)
  const { message, stack } = (error.cause ?? error) as Error
  expect(crossed).toMatchObject({ message: error.message, cause: { message, stack } })
})
