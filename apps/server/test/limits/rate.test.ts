import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRate } from '../../src/http/token-rate.ts'

const limit = { unitNs: 100_000_000, burst: 5 }

const startRate = (mostKeys?: number) => createRate(limit, mostKeys)

describe('a rate', () => {
  test('gives its burst at once, then one unit in each of its intervals', () => {
    const rate = startRate()
    const left = Array.from({ length: 6 }, () => rate.spend('a', 0))
    expect(left.map(({ remaining }) => remaining)).toEqual([5, 4, 3, 2, 1, 0])
    expect(left.at(-1)).toEqual({ remaining: 0, waitMs: 100 })
    expect(rate.spend('a', 99).waitMs).toBeCloseTo(1)
    expect(rate.spend('a', 100).waitMs).toBe(0)
    expect(rate.spend('a', 100).waitMs).toBeCloseTo(100)
  })

  test('forgets keys that have their burst again, then the oldest, when there are too many', () => {
    const rate = startRate(4)
    rate.spend('whole', 0)
    for (const key of 'abc') rate.spend(key, 200)
    rate.spend('d', 200)
    const left = ['whole', ...'abcd'].map((key) => rate.look(key, 200).remaining)
    expect(left).toEqual([5, 5, 5, 4, 4])
  })

  test('in any period lets no more pass than its burst and what grew back', () => {
    const gap = fc.constantFrom(0, 1, 99, 100, 300, 1e6)
    const gaps = fc.array(gap, { minLength: 1, maxLength: 200, size: 'max' })
    fc.assert(
      fc.property(gaps, (gapsMs) => {
        const rate = startRate()
        const passedAt: number[] = []
        let now = 0
        for (const gap of gapsMs) {
          now += gap
          if (rate.spend('a', now).waitMs === 0) passedAt.push(now)
        }
        passedAt.forEach((from, index) => {
          const since = passedAt.slice(index)
          const elapsedMs = (since.at(-1) ?? from) - from
          expect(since.length).toBeLessThanOrEqual(5 + elapsedMs / 100 + 1e-6)
        })
      }),
    )
  })
})
