/** A commit that the test ends by hand, and the batches that it was given. */
export function controlledCommit() {
  const batches: number[][] = []
  const ends: PromiseWithResolvers<void>[] = []
  const commit = async (batch: readonly number[]) => {
    batches.push([...batch])
    const end = Promise.withResolvers<void>()
    ends.push(end)
    await end.promise
    return batch.map((item) => `stored ${item}`)
  }
  return { batches, ends, commit }
}

export function turnOfEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
}

export function endOfMicrotasks(): Promise<void> {
  return new Promise((resolve) => process.nextTick(() => process.nextTick(resolve)))
}
