import { describe, expect, test } from 'vitest'
import {
  PlantStoreAbortError,
  PlantStoreConfigError,
  PlantStoreError,
  PlantStoreTimeoutError,
} from '../src/index.ts'

const url = (text: string) => new URL('/plants', text)

describe('an error says in its message', () => {
  test('which time ran out, and where', () => {
    const error = new PlantStoreTimeoutError(url('http://a.example'), 'total_timeout', 5, 'no')
    expect(error.message).toBe('no reply from a.example: total_timeout of 5 ms')
  })

  test('that the call was aborted', () => {
    expect(new PlantStoreAbortError('gone', 'no').message).toBe('the call was aborted')
  })
})

test.each([
  ['http://a.example', 80],
  ['https://a.example', 443],
  ['https://a.example:80', 80],
  ['http://a.example:8080', 8080],
])('the port of %s is %i', (base, port) => {
  expect(new PlantStoreTimeoutError(url(base), 'total_timeout', 5, 'no').port).toBe(port)
})

describe('a plain error of the client', () => {
  const error = new PlantStoreError('broken', 'server_error')

  test('is named for its class, and known by its brand', () => {
    expect(error.name).toBe('PlantStoreError')
    expect(Reflect.get(error, Symbol.for('plant-store.error'))).toBe(true)
  })

  test('has no cause where it was given none', () => {
    expect(Object.keys(error)).not.toContain('cause')
    expect('cause' in error).toBe(false)
    expect(new PlantStoreError('', 'aborted', { cause: null }).cause).toBeNull()
  })

  test('has only the fields as JSON that it has itself', () => {
    const { option } = new PlantStoreConfigError('invalid_option', 'speed', 'is not an option')
    expect(option).toBe('speed')
    expect(Object.keys(error.toJSON())).toEqual([
      'name',
      'code',
      'message',
      'applied',
      'retryable',
      'attempts',
    ])
  })
})
