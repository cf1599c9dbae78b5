import { describe, expect, test } from 'vitest'
import { GroupCommit, type GroupCommitOptions } from '../../src/store/group-commit.ts'
import type { CommitTiming, EndedCommit } from '../../src/store/observer.ts'
import { OutcomeUnknownError, StoreUnavailableError } from '../../src/store/store.ts'

/** A group commit whose commits the test ends by hand, the batches that they were given, and what was observed. */
function openGroup(options: Partial<GroupCommitOptions<number, string>> = {}) {
  const batches: number[][] = []
  const ends: PromiseWithResolvers<void>[] = []
  const waits: number[] = []
  const commits: EndedCommit<number>[] = []
  const commit = async (batch: readonly number[]) => {
    batches.push([...batch])
    const end = Promise.withResolvers<void>()
    ends.push(end)
    await end.promise
    return batch.map((item) => `stored ${item}`)
  }
  const observer = {
    itemWaited: (waitMs: number) => void waits.push(waitMs),
    commitEnded: (commit: EndedCommit<number>) => void commits.push(commit),
  }
  const group = new GroupCommit({ commit, observer, ...options })
  /** Adds items, and lets the event loop turn, so that what can begin has begun. */
  const add = async (...items: number[]) => {
    const outcomes = items.map((item) => group.add(item))
    await turnOfEventLoop()
    return outcomes
  }
  return { batches, ends, waits, commits, group, add }
}

function turnOfEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
}

function endOfMicrotasks(): Promise<void> {
  return new Promise((resolve) => process.nextTick(() => process.nextTick(resolve)))
}

describe('group commit', () => {
  test('what arrives while a commit runs shares the next one, in order', async () => {
    const { batches, ends, add } = openGroup()
    const outcomes = [...(await add(1)), ...(await add(2, 3, 4))]
    expect(batches).toEqual([[1]])
    ends[0]?.resolve()
    await outcomes[0]
    await turnOfEventLoop()
    expect(batches).toEqual([[1], [2, 3, 4]])
    ends[1]?.resolve()
    expect(await Promise.all(outcomes)).toEqual(['stored 1', 'stored 2', 'stored 3', 'stored 4'])
  })

  test('a failed commit fails its own batch and not the next', async () => {
    const { ends, add } = openGroup()
    const [first, second] = [...(await add(1)), ...(await add(2))]
    ends[0]?.reject(new StoreUnavailableError('the disk is full'))
    await expect(first).rejects.toThrow('the disk is full')
    await turnOfEventLoop()
    ends[1]?.resolve()
    expect(await second).toBe('stored 2')
  })

  test('after a failure all that waits gets its error, and nothing more is taken', async () => {
    const { batches, ends, group, add } = openGroup()
    const [first, second] = [...(await add(1)), ...(await add(2))]
    const failure = new OutcomeUnknownError('the sync failed')
    group.fail(failure)
    ends[0]?.reject(failure)
    await expect(first).rejects.toThrow(failure)
    await expect(second).rejects.toThrow(failure)
    await expect(group.add(3)).rejects.toThrow(StoreUnavailableError)
    await turnOfEventLoop()
    expect(batches).toEqual([[1]])
    await group.close()
  })

  test('beside a commit that takes long, and only then, the next one starts', async () => {
    const besideAfterMs = 30
    const { batches, ends, group, add } = openGroup({ commitsInFlight: 2, besideAfterMs })
    const start = performance.now()
    const outcomes = [...(await add(1)), ...(await add(2, 3))]
    while (batches.length < 2) await turnOfEventLoop()
    expect(performance.now() - start).toBeGreaterThanOrEqual(besideAfterMs)
    expect(batches).toEqual([[1], [2, 3]])
    for (const end of ends) end.resolve()
    await Promise.all(outcomes)
    await group.close()
  })

  test('a commit that ends soon is followed at once, whatever the wait beside it', async () => {
    const { batches, ends, group, add } = openGroup({
      commitsInFlight: 2,
      besideAfterMs: 3_600_000,
    })
    const [first] = await add(1)
    const second = group.add(2)
    ends[0]?.resolve()
    await first
    expect(batches).toEqual([[1], [2]])
    ends[1]?.resolve()
    await second
    const [third] = await add(3)
    expect(batches).toEqual([[1], [2], [3]])
    ends[2]?.resolve()
    expect(await third).toBe('stored 3')
    await group.close()
  })
})

describe('group commit within a turn of the event loop', () => {
  test('after an item that came alone, the next one is committed at once', async () => {
    const { batches, ends, group, add } = openGroup()
    const [first] = await add(1)
    ends[0]?.resolve()
    expect(await first).toBe('stored 1')
    const second = group.add(2)
    expect(batches).toEqual([[1], [2]])
    ends[1]?.resolve()
    expect(await second).toBe('stored 2')
  })

  test('items that come together share commits, all but the first of them', async () => {
    const batches: number[][] = []
    const commit = async (batch: readonly number[]) => {
      batches.push([...batch])
      return batch.map(String)
    }
    const { group } = openGroup({ commit })
    await group.add(1)
    await turnOfEventLoop()
    for (const item of [2, 3, 4]) {
      void group.add(item)
      // Commits on this thread are done before the next request that has arrived is looked at.
      await endOfMicrotasks()
    }
    await turnOfEventLoop()
    await Promise.all([group.add(5), group.add(6)])
    expect(batches).toEqual([[1], [2], [3, 4], [5, 6]])
  })

  test('many items start a commit before the turn ends, and what follows them the next one', async () => {
    const { batches, ends, group } = openGroup()
    const outcomes = Array.from({ length: 60 }, (_, item) => group.add(item))
    expect(batches.map(({ length }) => length)).toEqual([24])
    await turnOfEventLoop()
    expect(batches).toHaveLength(1)
    ends[0]?.resolve()
    await outcomes[0]
    expect(batches.map(({ length }) => length)).toEqual([24, 36])
    ends[1]?.resolve()
    expect(await Promise.all(outcomes)).toHaveLength(60)
    expect(batches.flat()).toEqual(Array.from({ length: 60 }, (_, item) => item))
  })

  test('a commit that ends in the midst of a turn is followed in it, where many wait', async () => {
    let polls = 0
    const poll = () => {
      polls++
      ends[0]?.resolve()
    }
    const { batches, ends, group } = openGroup({ poll })
    const turn = new Promise((resolve) => setImmediate(resolve)).then(() => 'the turn is over')
    const outcomes = Array.from({ length: 47 }, (_, item) => group.add(item))
    expect(polls).toBe(0)
    outcomes.push(group.add(47))
    expect(await Promise.race([outcomes[23], turn])).toBe('stored 23')
    expect(polls).toBe(1)
    expect(batches.map(({ length }) => length)).toEqual([24, 24])
    ends[1]?.resolve()
    expect(await Promise.all(outcomes)).toHaveLength(48)
  })
})

/** Lets the event loop turn until so much time has gone by. */
async function pass(ms: number): Promise<void> {
  const begin = performance.now()
  while (performance.now() - begin < ms) await turnOfEventLoop()
}

test('each commit is reported before its outcomes, once, with its items, their waits and its error', async () => {
  const { group, waits, commits, ends, add } = openGroup()
  const reported: number[] = []
  const outcomes = [...(await add(1)), ...(await add(2, 3))].map((outcome) =>
    outcome.catch(String).then(() => reported.push(commits.length)),
  )
  expect(group.waiting).toBe(2)
  await pass(20)
  expect(commits).toEqual([])
  ends[0]?.resolve()
  await outcomes[0]
  await turnOfEventLoop()
  const error = new StoreUnavailableError('the disk is full')
  ends[1]?.reject(error)
  await Promise.all(outcomes)
  expect([group.waiting, reported]).toEqual([0, [1, 2, 2]])
  const times = { startedAt: expect.any(Number), endedAt: expect.any(Number) }
  expect(commits).toEqual([
    { ...times, items: [1], error: undefined },
    { ...times, items: [2, 3], error },
  ])
  const [{ startedAt, endedAt } = { startedAt: 0, endedAt: 0 }] = commits
  expect(endedAt - startedAt).toBeGreaterThanOrEqual(20)
  expect(waits).toHaveLength(3)
  expect(waits[1]).toBeGreaterThanOrEqual(20)
})

test('an item gets its times, whether it was stored or not', async () => {
  const { group, ends } = openGroup()
  const timings: CommitTiming[] = [{}, {}]
  const outcomes = timings.map((timing, item) => group.add(item, timing))
  await pass(10)
  expect(timings).toEqual([{}, {}])
  for (const end of ends) end.reject(new Error('the disk is full'))
  await Promise.allSettled(outcomes)
  for (const { waitMs, commitMs } of timings) {
    expect(waitMs).toBeGreaterThanOrEqual(0)
    expect(commitMs).toBeGreaterThanOrEqual(9)
  }
})
