import { describe, expect, test } from 'vitest'
import {
  contract,
  ErrorBody,
  errorNameOf,
  errorTable,
  headerNames,
  isRequestId,
} from '../src/index.ts'

/** The published table: `error`, status, name. A number that has travelled never changes. */
const PUBLISHED: readonly (readonly [error: number, status: number, name: string])[] = [
  [40000, 400, 'malformed_request'],
  [40001, 400, 'malformed_json'],
  [40002, 400, 'invalid_plant'],
  [40003, 400, 'id_taken'],
  [40100, 401, 'missing_credentials'],
  [40101, 401, 'invalid_token'],
  [40400, 404, 'not_found'],
  [40500, 405, 'method_not_allowed'],
  [40800, 408, 'request_timeout'],
  [41300, 413, 'body_too_large'],
  [41500, 415, 'unsupported_media_type'],
  [41700, 417, 'expectation_failed'],
  [42900, 429, 'too_many_requests'],
  [43100, 431, 'headers_too_large'],
  [50000, 500, 'internal'],
  [50001, 500, 'outcome_unknown'],
  [50300, 503, 'unavailable'],
]

describe('the error table', () => {
  const rows = Object.entries(errorTable).map(([name, { code, status }]) => [code, status, name])

  test('is the published one, row by row, and each number is found again', () => {
    expect(rows).toEqual(PUBLISHED)
    expect(PUBLISHED.map(([code]) => errorNameOf(code))).toEqual(Object.keys(errorTable))
  })

  test('says that all but one store nothing, and which may pass', () => {
    const rows = Object.values(errorTable)
    expect(rows.flatMap(({ code, stored }) => (stored === 'no' ? [] : code))).toEqual([50001])
    const passing = rows.flatMap(({ code, retry }) => (retry ? code : []))
    expect(passing).toEqual([40800, 42900, 50000, 50001, 50300])
  })

  test.each([0, -1, 400, 40004, 40900, 50301, Number.NaN, 40001.5])('%d has no name', (code) => {
    expect(errorNameOf(code)).toBeUndefined()
  })
})

describe('the contract', () => {
  const { createPlant } = contract

  test('answers 200 and exactly the statuses of the error table', () => {
    const statuses = [200, ...PUBLISHED.map(([, status]) => status)].map(String)
    expect(Object.keys(createPlant.responses).sort()).toEqual([...new Set(statuses)].sort())
  })

  test('requires the Authorization header', () => {
    expect(createPlant.headers.authorization.safeParse(undefined).success).toBe(false)
    expect(createPlant.headers.authorization.safeParse('Bearer x').success).toBe(true)
  })
})

describe('the body of an Error', () => {
  test.each([0, -1, 40003, 2 ** 31 - 1, -(2 ** 31)])('may carry the number %i', (error) => {
    expect(ErrorBody.parse({ error, message: '' })).toStrictEqual({ error, message: '' })
  })

  test.each([
    ['an error above int32', { error: 2 ** 31, message: 'no' }],
    ['an error below int32', { error: -(2 ** 31) - 1, message: 'no' }],
    ['an error with a fraction', { error: 1.5, message: 'no' }],
    ['an error in a string', { error: '40003', message: 'no' }],
    ['an error as a bigint', { error: 40003n, message: 'no' }],
    ['no error', { message: 'no' }],
    ['no message', { error: 40003 }],
    ['a message of null', { error: 40003, message: null }],
    ['null', null],
    ['an array', [40003, 'no']],
  ])('is not %s', (_what, body) => {
    expect(ErrorBody.safeParse(body).success).toBe(false)
  })

  test('may carry members that a later version adds, which are dropped', () => {
    const parsed = ErrorBody.parse({ error: 40003, message: 'no', hint: 'another id' })
    expect(parsed).toStrictEqual({ error: 40003, message: 'no' })
  })
})

test('header names are in lower case, as Node.js gives them, and each stands once', () => {
  const names = Object.values(headerNames)
  expect(names).toEqual([...new Set(names.map((name) => name.toLowerCase()))])
})

test.each<[string, boolean]>([
  ['a', true],
  ['A-Z_a.z-09', true],
  ['r'.repeat(128), true],
  ['', false],
  ['r'.repeat(129), false],
  ['two words', false],
  ['é', false],
  ['line\n', false],
])('whether %j is a request id: %s', (text, isValid) => {
  expect(isRequestId(text)).toBe(isValid)
})
