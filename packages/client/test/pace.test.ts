import { describe, expect, test } from 'vitest'
import {
  PlantStoreAbortError,
  type PlantStoreApiError,
  PlantStoreConfigError,
} from '../src/index.ts'
import { Pace } from '../src/pace.ts'
import type { RetryDecision } from '../src/retry.ts'
import { apiError } from './fake-fetch.ts'
import { createFakeRuntime } from './fake-runtime.ts'

const tooMany = apiError(429, 42900)
const unavailable = apiError(503, 50300)
const internal = apiError(500, 50000)
const again: RetryDecision = { delayMs: 100 }

function createPace(concurrency = 16, isAdaptive = true): Pace {
  return new Pace(createFakeRuntime(), concurrency, isAdaptive)
}

function repeat(times: number, act: () => void): void {
  for (let time = 0; time < times; time++) act()
}

describe('the concurrency', () => {
  test('is halved once for those that were on their way together', () => {
    const pace = createPace()
    repeat(17, () => pace.onFailure(tooMany, again))
    expect(pace.concurrency).toBe(8)
    pace.onFailure(tooMany, again)
    expect(pace.concurrency).toBe(4)
  })

  test('is halved again only after as many replies as there were calls', () => {
    const pace = createPace()
    pace.onFailure(unavailable, again)
    repeat(8, () => pace.onSuccess())
    repeat(7, () => pace.onFailure(internal, again))
    pace.onFailure(unavailable, again)
    expect(pace.concurrency).toBe(8)
    pace.onFailure(unavailable, again)
    expect(pace.concurrency).toBe(4)
  })

  test('is never less than 1', () => {
    const pace = createPace(3)
    repeat(20, () => pace.onFailure(tooMany, again))
    expect(pace.concurrency).toBe(1)
  })

  test('grows by 1 after 50 plants, up to what it was', () => {
    const pace = createPace(4)
    pace.onFailure(tooMany, again)
    repeat(49, () => pace.onSuccess())
    expect(pace.concurrency).toBe(2)
    pace.onSuccess()
    expect(pace.concurrency).toBe(3)
    repeat(500, () => pace.onSuccess())
    expect(pace.concurrency).toBe(4)
  })

  test('stays where it is not adaptive, and where the server is broken rather than busy', () => {
    const fixed = createPace(16, false)
    fixed.onFailure(tooMany, again)
    expect(fixed.concurrency).toBe(16)
    const broken = createPace()
    broken.onFailure(internal, again)
    expect([broken.concurrency, broken.pauseMs > 0]).toEqual([16, false])
  })
})

describe('the pause', () => {
  test.each<[string, PlantStoreApiError, RetryDecision, number]>([
    ['is the wait of the call', tooMany, { delayMs: 700 }, 700],
    [
      'of a call that is given up is what the server asked for',
      apiError(503, 50300, { retryAfterMs: 900 }),
      { refusal: 'retries_used' },
      900,
    ],
    ['of one without Retry-After is a backoff', tooMany, { refusal: 'retries_used' }, 125],
  ])('%s', (_what, error, decision, expected) => {
    const pace = createPace()
    pace.onFailure(error, decision)
    expect(pace.pauseMs).toBe(expected)
  })

  test('is the longest that was asked for', () => {
    const pace = createPace()
    for (const delayMs of [300, 700, 500]) pace.onFailure(tooMany, { delayMs })
    expect(pace.pauseMs).toBe(700)
  })
})

describe('the retries', () => {
  test('are a hundred, and one more for each five plants that are stored', () => {
    const pace = createPace()
    repeat(1_000, () => pace.onSuccess())
    const taken = () => pace.takeRetry(internal)
    expect(Array.from({ length: 101 }, taken).filter(Boolean)).toHaveLength(100)
    repeat(4, () => pace.onSuccess())
    expect(taken()).toBe(false)
    pace.onSuccess()
    expect([taken(), taken()]).toEqual([true, false])
  })

  test('after a 429 cost nothing, after a 503 they do', () => {
    const pace = createPace()
    repeat(1_000, () => pace.takeRetry(tooMany))
    repeat(100, () => pace.takeRetry(unavailable))
    expect([pace.takeRetry(unavailable), pace.takeRetry(tooMany)]).toEqual([false, true])
  })
})

describe('the end', () => {
  test.each([
    [new PlantStoreConfigError('token_provider_failed', 'token', 'x'), true],
    [new PlantStoreAbortError('x', 'no'), true],
    [apiError(401, 40101), true],
    [apiError(403, 40300), true],
    [apiError(400, 40003), false],
    [tooMany, false],
    [internal, false],
  ])('comes with %s: %s', (error, isEnd) => {
    const pace = createPace()
    pace.onGivenUp(error)
    expect(pace.fatal).toBe(isEnd ? error : undefined)
  })

  test('comes with a wait that is too long, and the first reason stays', () => {
    const pace = createPace()
    pace.onFailure(tooMany, { refusal: 'wait_too_long' })
    pace.onGivenUp(apiError(401, 40101))
    expect(pace.fatal).toBe(tooMany)
    expect(pace.pauseMs).toBeLessThan(0)
  })
})
