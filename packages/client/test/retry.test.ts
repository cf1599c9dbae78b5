import { describe, expect, test } from 'vitest'
import {
  backoffMs,
  decideRetry,
  isTransientStatus,
  parseRetryAfter,
  type RetryQuestion,
} from '../src/retry.ts'
import { createSeededRandom } from './fake-runtime.ts'

const NOW = Date.UTC(1994, 10, 6, 8, 49, 37)

describe('a status', () => {
  test('passes, or stays what it is', () => {
    const every = Array.from({ length: 600 }, (_, status) => status)
    expect(every.filter(isTransientStatus)).toEqual([408, 425, 429, 500, 502, 503, 504])
  })
})

describe('the wait without a Retry-After', () => {
  test.each([
    [0, 250],
    [1, 500],
    [2, 1_000],
    [4, 4_000],
    [5, 8_000],
    [6, 8_000],
    [2_000, 8_000],
  ])('after %i retries is anything from 0 up to %i ms', (retries, most) => {
    expect(backoffMs(retries, 0)).toBe(0)
    expect(backoffMs(retries, 0.5)).toBe(most / 2)
    expect(backoffMs(retries, 1)).toBe(most)
  })
})

describe('a Retry-After', () => {
  test.each<[string | null, number | undefined]>([
    ['0', 0],
    ['1', 1_000],
    ['120', 120_000],
    [' 5 ', 5_000],
    ['1.5', 1_500],
    ['2, 2', 2_000],
    ['2 ,7,3', 7_000],
    ['2, soon', undefined],
    ['2,', undefined],
    ['99999999999999999999', 1e23],
    ['Sun, 06 Nov 1994 08:49:39 GMT', 2_000],
    ['Sunday, 06-Nov-94 08:49:39 GMT', 2_000],
    ['Sun Nov  6 08:49:39 1994', 2_000],
    ['sun, 06 nov 1994 08:49:39 gmt', 2_000],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['Sat, 05 Nov 1994 08:49:37 GMT', 0],
    [null, undefined],
    ['', undefined],
    ['-1', undefined],
    ['1e3', undefined],
    ['5s', undefined],
    ['soon', undefined],
    ['2030', 2_030_000],
    ['1994-11-06T08:49:39Z', undefined],
    ['Sun, 99 Nov 1994 08:49:39 GMT', undefined],
    ['Infinity', undefined],
  ])('of %o asks for %o ms', (value, expected) => {
    expect(parseRetryAfter(value, NOW)).toBe(expected)
  })
})

const question: RetryQuestion = {
  retryable: true,
  retries: 0,
  maxRetries: 3,
  retryAfterMs: undefined,
  maxRetryAfterMs: 30_000,
  remainingMs: 60_000,
  random: 0.5,
}

describe('after a failure', () => {
  test.each<[string, Partial<RetryQuestion>, ReturnType<typeof decideRetry>]>([
    ['the first retry waits up to 250 ms', {}, 125],
    ['the third waits up to 1 s', { retries: 2 }, 500],
    ['what stays is not retried', { retryable: false }, undefined],
    ['the retries come to an end', { retries: 3 }, undefined],
    ['no retries are none', { maxRetries: 0 }, undefined],
    ['a Retry-After gets 0 to 10 % more', { retryAfterMs: 2_000 }, 2_100],
    ['at least a Retry-After', { retryAfterMs: 2_000, random: 0 }, 2_000],
    ['a Retry-After of 0 is no floor', { retryAfterMs: 0 }, 125],
    ['a Retry-After as long as its cap', { retryAfterMs: 30_000 }, 30_000],
    ['a longer one', { retryAfterMs: 30_001 }, undefined],
    ['a cap of 0', { retryAfterMs: 1, maxRetryAfterMs: 0 }, undefined],
    ['a cap of 0 leaves the wait without it', { maxRetryAfterMs: 0 }, 125],
    ['too long counts before too often', { retryAfterMs: 30_001, retries: 3 }, undefined],
    ['a wait that just fits', { remainingMs: 126 }, 125],
    ['a wait as long as the time left', { remainingMs: 125 }, undefined],
    ['no time left', { remainingMs: -1, random: 0 }, undefined],
    ['no end of time', { remainingMs: Number.POSITIVE_INFINITY }, 125],
    ['a Retry-After beyond the time left', { retryAfterMs: 2_000, remainingMs: 2_000 }, undefined],
  ])('%s', (_what, change, expected) => {
    expect(decideRetry({ ...question, ...change })).toEqual(expected)
  })
})

test('a Retry-After is never undercut and never slept past its cap or the time left, 1,000 times', () => {
  const random = createSeededRandom(4)
  let waits = 0
  for (let round = 0; round < 1_000; round++) {
    const seconds = Math.floor(random() * 40)
    const isDate = random() < 0.5
    const header = isDate ? new Date(NOW + seconds * 1_000).toUTCString() : String(seconds)
    const retryAfterMs = parseRetryAfter(header, NOW)
    expect(retryAfterMs).toBe(seconds * 1_000)
    const limits = { maxRetryAfterMs: random() * 40_000, remainingMs: random() * 80_000 }
    const decision = decideRetry({ ...question, ...limits, retryAfterMs, random: random() })
    if (decision === undefined) {
      const isPastLimit = seconds * 1_100 >= Math.min(limits.maxRetryAfterMs, limits.remainingMs)
      expect(isPastLimit || limits.remainingMs <= 250).toBe(true)
      continue
    }
    waits++
    expect(decision).toBeLessThan(limits.remainingMs)
    if (seconds === 0) continue
    expect(decision).toBeGreaterThanOrEqual(seconds * 1_000)
    expect(decision).toBeLessThanOrEqual(Math.min(seconds * 1_100, limits.maxRetryAfterMs))
  }
  expect(waits).toBeGreaterThan(200)
})
