import { setImmediate as turnOfEventLoop } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createGroupCommit } from '../../src/store/group-commit.ts'
import type { CommitTiming } from '../../src/store/observer.ts'

/** A group commit whose first batch lasts until the test ends it, and what was observed of it. */
function openObserved() {
  const waits: number[] = []
  const commits: { plants: number; durationMs: number; hasFailed: boolean }[] = []
  const end = Promise.withResolvers<void>()
  const group = createGroupCommit<number, number>({
    queueLimit: 10,
    async commit(batch) {
      await end.promise
      return [...batch]
    },
    observer: {
      plantWaited: (waitMs) => void waits.push(waitMs),
      commitEnded: (plants, durationMs, hasFailed) =>
        void commits.push({ plants, durationMs, hasFailed }),
      commitStatementEnded: () => {},
    },
  })
  return { group, waits, commits, end }
}

/** Lets the event loop turn until so much time has gone by. */
async function pass(ms: number): Promise<void> {
  const begin = performance.now()
  while (performance.now() - begin < ms) await turnOfEventLoop()
}

test('each commit is told once, with its size and with the wait of each item in it', async () => {
  const { group, waits, commits, end } = openObserved()
  const outcomes = [group.add(1)]
  await turnOfEventLoop()
  outcomes.push(group.add(2), group.add(3))
  expect(group.waiting).toBe(2)
  await pass(20)
  expect(commits).toEqual([])
  end.resolve()
  await Promise.all(outcomes)
  expect(group.waiting).toBe(0)
  expect(commits.map(({ plants, hasFailed }) => [plants, hasFailed])).toEqual([
    [1, false],
    [2, false],
  ])
  expect(commits[0]?.durationMs).toBeGreaterThanOrEqual(20)
  expect(waits).toHaveLength(3)
  expect(waits[1]).toBeGreaterThanOrEqual(20)
})

test('a failed commit is told as failed', async () => {
  const { group, commits, end } = openObserved()
  const outcome = group.add(1)
  await turnOfEventLoop()
  end.reject(new Error('the disk is full'))
  await expect(outcome).rejects.toThrow('the disk is full')
  expect(commits).toEqual([{ plants: 1, durationMs: expect.any(Number), hasFailed: true }])
})

test('an item is told where its time went, whether it was stored or not', async () => {
  const { group, end } = openObserved()
  const timings: CommitTiming[] = [{}, {}]
  const outcomes = timings.map((timing, item) => group.add(item, timing))
  await pass(10)
  expect(timings).toEqual([{}, {}])
  end.reject(new Error('the disk is full'))
  await Promise.allSettled(outcomes)
  for (const { waitMs, commitMs } of timings) {
    expect(waitMs).toBeGreaterThanOrEqual(0)
    expect(commitMs).toBeGreaterThanOrEqual(9)
  }
})
