import { describe, expect, test } from 'vitest'
import {
  PlantStoreAbortError,
  type PlantStoreApiError,
  PlantStoreConfigError,
} from '../src/index.ts'
import { Pace } from '../src/pace.ts'
import { apiError } from './fake-fetch.ts'
import { createFakeRuntime } from './fake-runtime.ts'

const tooMany = apiError(429, 42900)
const unavailable = apiError(503, 50300)
const internal = apiError(500, 50000)
const call = {}

/** A pace that waits for no outage, so that each error shows as it comes. */
function createPace(concurrency = 16, isAdaptive = true): Pace {
  return new Pace(createFakeRuntime(), {
    concurrency,
    isAdaptive,
    maxOutageMs: 0,
    onChange() {},
    onSent() {},
  })
}

function repeat(times: number, act: () => void): void {
  for (let time = 0; time < times; time++) act()
}

describe('the concurrency', () => {
  test('is halved once for those that were on their way together', () => {
    const pace = createPace()
    repeat(17, () => pace.onReply(call, tooMany))
    expect(pace.concurrency).toBe(8)
    pace.onReply(call, tooMany)
    expect(pace.concurrency).toBe(4)
  })

  test('is halved again only after as many replies as there were calls', () => {
    const pace = createPace()
    pace.onReply(call, unavailable)
    repeat(8, () => pace.onReply(call, undefined))
    repeat(7, () => pace.onReply(call, internal))
    pace.onReply(call, unavailable)
    expect(pace.concurrency).toBe(8)
    pace.onReply(call, unavailable)
    expect(pace.concurrency).toBe(4)
  })

  test('is never less than 1', () => {
    const pace = createPace(3)
    repeat(20, () => pace.onReply(call, tooMany))
    expect(pace.concurrency).toBe(1)
  })

  test('grows by 1 after 50 plants, up to what it was', () => {
    const pace = createPace(4)
    pace.onReply(call, tooMany)
    repeat(49, () => pace.onReply(call, undefined))
    expect(pace.concurrency).toBe(2)
    pace.onReply(call, undefined)
    expect(pace.concurrency).toBe(3)
    repeat(500, () => pace.onReply(call, undefined))
    expect(pace.concurrency).toBe(4)
  })

  test('stays where it is not adaptive, and where the server is broken rather than busy', () => {
    const fixed = createPace(16, false)
    fixed.onReply(call, tooMany)
    expect(fixed.concurrency).toBe(16)
    const broken = createPace()
    broken.onReply(call, internal)
    expect([broken.concurrency, broken.waitMs > 0]).toEqual([16, false])
  })
})

describe('the wait', () => {
  test.each<[string, PlantStoreApiError, number]>([
    [
      'is what the server asked for, and a little more',
      apiError(503, 50300, { retryAfterMs: 900 }),
      945,
    ],
    ['without Retry-After is a backoff', tooMany, 125],
    ['is none after a failure of the server itself', internal, 0],
  ])('%s', (_what, error, expected) => {
    const pace = createPace()
    pace.onReply(call, error)
    expect(pace.waitMs).toBeCloseTo(expected)
    expect(pace.holds({})).toBe(expected > 0)
  })

  test('is the longest that was asked for', () => {
    const pace = createPace()
    for (const retryAfterMs of [300, 700, 500])
      pace.onReply({}, apiError(429, 42900, { retryAfterMs }))
    expect(pace.waitMs).toBeCloseTo(735)
  })
})

describe('the retries', () => {
  const again = { delayMs: 100 }

  test.each([
    [1, 100],
    [16, 128],
    [64, 512],
  ])(
    'where %i are sent at once are %i, and one more for five plants that are stored',
    (concurrency, most) => {
      const pace = createPace(concurrency)
      repeat(10_000, () => pace.onReply(call, undefined))
      const taken = () => pace.takeRetry(internal, again)
      expect(Array.from({ length: most + 1 }, taken).filter(Boolean)).toHaveLength(most)
      repeat(4, () => pace.onReply(call, undefined))
      expect(taken()).toBe(false)
      pace.onReply(call, undefined)
      expect([taken(), taken()]).toEqual([true, false])
    },
  )

  test('after a 429 cost nothing, after a 503 they do', () => {
    const pace = createPace()
    repeat(1_000, () => pace.takeRetry(tooMany, again))
    repeat(128, () => pace.takeRetry(unavailable, again))
    expect([pace.takeRetry(unavailable, again), pace.takeRetry(tooMany, again)]).toEqual([
      false,
      true,
    ])
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
    pace.onReply(call, tooMany)
    expect(pace.takeRetry(tooMany, { refusal: 'wait_too_long' })).toBe(false)
    expect(pace.fatal).toBe(tooMany)
    pace.takeRetry(unavailable, { refusal: 'wait_too_long' })
    expect(pace.fatal).toBe(tooMany)
  })

  test('does not come with a wait that is too long after a failure of the server itself', () => {
    const pace = createPace()
    pace.takeRetry(internal, { refusal: 'wait_too_long' })
    expect(pace.fatal).toBeUndefined()
  })
})
