import { expect, test } from 'vitest'
import { contract, headerNames, isRequestId } from '../src/index.ts'

test('header names are in lower case, as Node.js gives them, and each stands once', () => {
  const names = Object.values(headerNames)
  expect(names).toEqual([...new Set(names.map((name) => name.toLowerCase()))])
})

test('the headers of the operation are those that our client sends', () => {
  expect(Object.keys(contract.createPlant.headers)).toEqual([
    'authorization',
    'content-type',
    'x-request-id',
    'x-retry-count',
  ])
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
