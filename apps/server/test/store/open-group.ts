import { GroupCommit, type GroupCommitOptions } from '../../src/store/group-commit.ts'

/** A group commit whose commits the test ends by hand, and the batches that they were given. */
export function openGroup(options: Partial<GroupCommitOptions<number, string>> = {}) {
  const batches: number[][] = []
  const ends: PromiseWithResolvers<void>[] = []
  const commit = async (batch: readonly number[]) => {
    batches.push([...batch])
    const end = Promise.withResolvers<void>()
    ends.push(end)
    await end.promise
    return batch.map((item) => `stored ${item}`)
  }
  const group = new GroupCommit({ commit, ...options })
  return { batches, ends, group }
}

export function turnOfEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
}

export function endOfMicrotasks(): Promise<void> {
  return new Promise((resolve) => process.nextTick(() => process.nextTick(resolve)))
}
