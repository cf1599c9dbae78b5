import { setImmediate as turnOfEventLoop } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { GroupCommit } from '../../src/store/group-commit.ts'
import type { CommitTiming, EndedCommit } from '../../src/store/observer.ts'
import { StoreUnavailableError } from '../../src/store/store.ts'

/** A group commit whose first batch lasts until the test ends it, and what was observed of it. */
function openObserved() {
  const waits: number[] = []
  const commits: EndedCommit<number>[] = []
  const end = Promise.withResolvers<void>()
  const group = new GroupCommit<number, number>({
    async commit(batch) {
      await end.promise
      return [...batch]
    },
    observer: {
      itemWaited: (waitMs) => void waits.push(waitMs),
      commitEnded: (commit) => void commits.push(commit),
    },
  })
  return { group, waits, commits, end }
}

/** Lets the event loop turn until so much time has gone by. */
async function pass(ms: number): Promise<void> {
  const begin = performance.now()
  while (performance.now() - begin < ms) await turnOfEventLoop()
}

test('each commit is reported once, with its size and with the wait of each item in it', async () => {
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
  const [first, second] = commits
  expect(first).toMatchObject({ items: [1], error: undefined })
  expect(second).toMatchObject({ items: [2, 3], error: undefined })
  expect(commits).toHaveLength(2)
  expect((first?.endedAt ?? 0) - (first?.startedAt ?? 0)).toBeGreaterThanOrEqual(20)
  expect(waits).toHaveLength(3)
  expect(waits[1]).toBeGreaterThanOrEqual(20)
})

test('an item gets its times, whether it was stored or not', async () => {
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

test('an observer is notified of each commit, with its very items, before any outcome', async () => {
  const events: string[] = []
  const disk = new StoreUnavailableError('the disk is full')
  const items = [{ id: 1 }, { id: 2 }]
  const group = new GroupCommit({
    commit: async (batch: readonly { id: number }[]) => {
      if (batch.some(({ id }) => id === 2)) throw disk
      return batch.map(({ id }) => id)
    },
    observer: {
      itemWaited() {},
      commitEnded(commit) {
        expect(commit.startedAt).toBeLessThanOrEqual(commit.endedAt)
        expect(commit.endedAt).toBeLessThanOrEqual(performance.now())
        events.push(
          `${commit.items.map((item) => items.indexOf(item)).join()} ${commit.error === disk}`,
        )
      },
    },
  })
  for (const item of items) {
    await group.add(item).then(
      () => events.push('stored'),
      () => events.push('refused'),
    )
  }
  expect(events).toEqual(['0 false', 'stored', '1 true', 'refused'])
})
