import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { Deadline, type Ending } from '../src/deadline.ts'
import { createFakeRuntime, type FakeRuntime } from './fake-runtime.ts'

const never = new Promise<never>(() => {})

function open(
  runtime: FakeRuntime,
  ms: number,
  within?: Deadline | AbortSignal,
  ending: Ending = 'total_timeout',
): Deadline {
  return new Deadline({ runtime, ms, ending, within })
}

describe('a deadline', () => {
  test('ends work when its time has passed', async () => {
    const runtime = createFakeRuntime()
    const deadline = open(runtime, 100)
    await expect(runtime.runUntilDone(deadline.race(never))).rejects.toThrow('aborted')
    expect(deadline.ending).toBe('total_timeout')
    expect(deadline.signal.aborted).toBe(true)
    expect(deadline.remainingMs).toBe(0)
    expect(runtime.running).toBe(0)
  })

  test('leaves work alone that is done in time', async () => {
    const runtime = createFakeRuntime()
    const deadline = open(runtime, 100)
    expect(await deadline.race(Promise.resolve(7))).toBe(7)
    await expect(deadline.race(Promise.reject(new Error('own')))).rejects.toThrow('own')
    expect(deadline.ending).toBeUndefined()
    deadline.close()
    expect(runtime.running).toBe(0)
  })

  test('of Infinity starts no timer', () => {
    const runtime = createFakeRuntime()
    expect(open(runtime, Number.POSITIVE_INFINITY).remainingMs).toBe(Number.POSITIVE_INFINITY)
    expect(runtime.running).toBe(0)
  })

  test("ends at once with the caller's signal", async () => {
    const controller = new AbortController()
    const deadline = open(createFakeRuntime(), 100, controller.signal)
    const race = deadline.race(never)
    controller.abort()
    await expect(race).rejects.toThrow('aborted')
    expect(deadline.ending).toBe('aborted')
  })

  test('has ended from the start where the signal was aborted before', async () => {
    const deadline = open(createFakeRuntime(), 100, AbortSignal.abort())
    expect(deadline.ending).toBe('aborted')
    await expect(deadline.race(never)).rejects.toThrow('aborted')
  })

  test.each<[Ending, number, number]>([
    ['attempt_timeout', 50, 100],
    ['total_timeout', 100, 50],
  ])('within another ends with %s when that comes first', async (expected, inner, outer) => {
    const runtime = createFakeRuntime()
    const attempt = open(runtime, inner, open(runtime, outer), 'attempt_timeout')
    await expect(runtime.runUntilDone(attempt.race(never))).rejects.toThrow('aborted')
    expect(attempt.ending).toBe(expected)
  })

  test('calls back when it ends, unless that was called off', async () => {
    const runtime = createFakeRuntime()
    const deadline = open(runtime, 100)
    const called: string[] = []
    deadline.onEnd(() => called.push('first'))
    deadline.onEnd(() => called.push('called off'))()
    deadline.onEnd(() => called.push('last'))
    expect(() => deadline.throwIfEnded()).not.toThrow()
    await runtime.runUntilDone(deadline.race(never)).catch(() => {})
    expect(called).toEqual(['first', 'last'])
    expect(() => deadline.throwIfEnded()).toThrow('aborted')
  })

  test('has one signal, whether it is asked for before or after the end', () => {
    const controller = new AbortController()
    const [before, after] = [0, 0].map(() => open(createFakeRuntime(), 100, controller.signal))
    const signal = before?.signal
    expect(signal?.aborted).toBe(false)
    controller.abort()
    expect(signal?.aborted).toBe(true)
    expect(before?.signal).toBe(signal)
    expect(after?.signal.aborted).toBe(true)
  })

  test('lets go of the deadline around it', () => {
    const runtime = createFakeRuntime()
    const outer = open(runtime, 100)
    const inner = open(runtime, 50, outer)
    inner.close()
    outer.close()
    expect(runtime.running).toBe(0)
    const controller = new AbortController()
    const around = open(runtime, 100, controller.signal)
    const closed = open(runtime, 50, around)
    closed.close()
    controller.abort()
    expect([around.ending, closed.ending]).toEqual(['aborted', undefined])
  })

  test('keeps the first thing that ended it', async () => {
    const controller = new AbortController()
    const runtime = createFakeRuntime()
    const deadline = open(runtime, 100, controller.signal)
    await runtime.runUntilDone(deadline.race(never)).catch(() => {})
    controller.abort()
    expect(deadline.ending).toBe('total_timeout')
  })

  test('keeps no listener and no timer once it has ended or is closed', () => {
    const controller = new AbortController()
    const { signal } = controller
    const runtime = createFakeRuntime()
    const closed = open(runtime, 100, signal)
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    closed.close()
    expect([getEventListeners(signal, 'abort').length, runtime.running]).toEqual([0, 0])
    open(runtime, 100, signal)
    controller.abort()
    expect([getEventListeners(signal, 'abort').length, runtime.running]).toEqual([0, 0])
  })
})

describe('sleep', () => {
  test('lasts as long as it was given', async () => {
    const runtime = createFakeRuntime()
    const deadline = open(runtime, 100)
    await runtime.runUntilDone(deadline.sleep(40))
    expect(deadline.remainingMs).toBe(60)
    deadline.close()
    expect(runtime.running).toBe(0)
  })

  test('ends at once with the signal and stops its timer', async () => {
    const controller = new AbortController()
    const runtime = createFakeRuntime()
    const sleep = open(runtime, 100, controller.signal).sleep(40)
    controller.abort()
    await expect(sleep).rejects.toThrow('aborted')
    expect(runtime.running).toBe(0)
  })
})
