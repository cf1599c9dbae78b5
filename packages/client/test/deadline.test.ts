import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { Deadline, type Ending } from '../src/deadline.ts'
import { createFakeRuntime, type FakeRuntime } from './fake-runtime.ts'

const never = new Promise<never>(() => {})
const FOREVER = Number.POSITIVE_INFINITY

const open = (runtime: FakeRuntime, ms: number, within?: Deadline | AbortSignal) =>
  new Deadline(runtime, ms, 'total_timeout', within)

describe('a deadline', () => {
  test('ends work when its time has passed, and leaves work alone that is done in time', async () => {
    const runtime = createFakeRuntime()
    const deadline = open(runtime, 100)
    expect(await deadline.race(Promise.resolve(7))).toBe(7)
    await expect(deadline.race(Promise.reject(new Error('own')))).rejects.toThrow('own')
    await expect(runtime.runUntilDone(deadline.race(never))).rejects.toThrow('aborted')
    expect([deadline.ending, deadline.remainingMs]).toEqual(['total_timeout', 0])
    expect([deadline.signal.aborted, runtime.running]).toEqual([true, 0])
  })

  test('of Infinity starts no timer', () => {
    const runtime = createFakeRuntime()
    expect([open(runtime, FOREVER).remainingMs, runtime.running]).toEqual([FOREVER, 0])
  })

  test.each([true, false])(
    "ends with the caller's signal, aborted before: %s",
    async (isBefore) => {
      const controller = new AbortController()
      if (isBefore) controller.abort()
      const deadline = open(createFakeRuntime(), 100, controller.signal)
      const race = deadline.race(never)
      controller.abort()
      await expect(race).rejects.toThrow('aborted')
      expect(deadline.ending).toBe('aborted')
    },
  )

  test.each<[Ending, number, number]>([
    ['attempt_timeout', 50, 100],
    ['total_timeout', 100, 50],
  ])('within another ends with %s when that comes first', async (expected, inner, outer) => {
    const runtime = createFakeRuntime()
    const attempt = new Deadline(runtime, inner, 'attempt_timeout', open(runtime, outer))
    await expect(runtime.runUntilDone(attempt.race(never))).rejects.toThrow('aborted')
    expect(attempt.ending).toBe(expected)
  })

  test('keeps the first thing that ended it, and no listener and no timer then or once closed', async () => {
    const { signal, abort } = Object.assign(new AbortController(), { abort: () => {} })
    const runtime = createFakeRuntime()
    const outer = open(runtime, 100, signal)
    const inner = open(runtime, 50, outer)
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    await runtime.runUntilDone(inner.race(never)).catch(() => {})
    outer.close()
    abort()
    expect(inner.ending).toBe('total_timeout')
    expect([getEventListeners(signal, 'abort').length, runtime.running]).toEqual([0, 0])
  })

  test('sleeps as long as it is told, and no longer than until its end', async () => {
    const runtime = createFakeRuntime()
    const deadline = open(runtime, 100)
    await runtime.runUntilDone(deadline.sleep(40))
    expect(deadline.remainingMs).toBe(60)
    await expect(runtime.runUntilDone(deadline.sleep(70))).rejects.toThrow('aborted')
    expect(runtime.running).toBe(0)
  })
})
