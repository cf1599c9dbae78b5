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

test('any batch crosses to the other thread to the letter and the digit', () => {
  const text = fc.string({ unit: 'binary' })
  const id = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  const plant = fc.record({ id, name: text, tag: text }, { requiredKeys: ['id', 'name'] })
  const property = fc.property(fc.array(plant), (batch: NewPlant[]) => {
    expect(rowsOf(batch)).toEqual(batch.map(toRow))
  })
  fc.assert(property, { examples: [[plants]] })
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
  const get = () => outcomesOf(response, toRequest(7, plants))
  expect(get).toThrow(error instanceof TypeError ? Error : (error.constructor as typeof Error))
  const { message, stack } = (error.cause ?? error) as Error
  const cause = expect.objectContaining({ message, stack })
  expect(get).toThrow(expect.objectContaining({ message: error.message, cause }))
})
