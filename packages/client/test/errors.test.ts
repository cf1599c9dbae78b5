import { describe, expect, test } from 'vitest'
import { abortError, optionError } from '../src/errors.ts'
import { connectionError } from '../src/failure.ts'
import { isPlantStoreError, PlantStoreError } from '../src/index.ts'

test('an abort and a time say in their message what they are, and where', () => {
  const { message } = connectionError(new URL('http://a.example'), 'total_timeout', 'late', {})
  expect(message).toBe('no response from a.example: late')
  expect(abortError('gone', 'no')).toMatchObject({ message: 'the call was aborted', cause: 'gone' })
})

test.each([
  ['http://a.example', 80],
  ['https://a.example', 443],
  ['https://a.example:80', 80],
  ['http://a.example:8080', 8080],
])('the port of %s is %i', (base, port) => {
  expect(connectionError(new URL(base), 'total_timeout', '', {}).port).toBe(port)
})

describe('an error of the client', () => {
  test('is known in another copy of the package, and nothing else is', () => {
    const other = Object.assign(new Error(), { [Symbol.for('plant-store.error')]: true })
    for (const error of [optionError('invalid_option', 'speed', 'is none'), other]) {
      expect([isPlantStoreError(error), error instanceof PlantStoreError]).toEqual([true, true])
    }
    for (const value of [new Error(), {}, null, undefined, 'PlantStoreError']) {
      expect([isPlantStoreError(value), value instanceof PlantStoreError]).toEqual([false, false])
    }
  })

  test('has no cause where it was given none', () => {
    expect('cause' in new PlantStoreError('server_error', 'broken')).toBe(false)
    expect(new PlantStoreError('aborted', '', { cause: null }).cause).toBeNull()
  })

  test('has as JSON the fields that it has itself, without causes and stacks', () => {
    const error = optionError('invalid_option', 'speed', 'is not an option')
    Object.defineProperty(error, 'cause', { value: new Error('secret') })
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: 'PlantStoreError',
      code: 'invalid_option',
      message: 'speed is not an option',
      applied: 'no',
      retryable: false,
      attempts: 0,
      option: 'speed',
    })
  })
})
