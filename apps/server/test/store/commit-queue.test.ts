import { setTimeout as sleep } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import type { CommitRequest } from '../../src/sqlite/commit/commit-messages.ts'
import { CommitPort } from '../../src/sqlite/commit/commit-port.ts'
import { CommitQueue } from '../../src/sqlite/commit/commit-queue.ts'
import { BATCH_LIMIT, WORTH_A_COMMIT } from '../../src/store/group-commit.ts'
import { OutcomeUnknownError, StoreUnavailableError } from '../../src/store/store.ts'
import { turnOfEventLoop } from './open-group.ts'

/** A queue whose transactions the test ends by hand, and the sizes of their batches. */
function openQueue(threads: number, patienceMs = 60_000) {
  const transactions: number[][] = []
  const ends: PromiseWithResolvers<void>[] = []
  const failures: unknown[] = []
  const queue = new CommitQueue({
    async commit(requests: readonly CommitRequest[]) {
      transactions.push(requests.map(({ ids }) => ids.length))
      const end = Promise.withResolvers<void>()
      ends.push(end)
      await end.promise
      return { outcomes: requests.map(({ ids }) => new Uint8Array(ids.length)), statementMs: 1 }
    },
    onFailure: (error) => failures.push(error),
    patienceMs,
  })
  onTestFinished(() => queue.close())
  const ports = Array.from({ length: threads }, () => {
    const { port1, port2 } = new MessageChannel()
    const held = new Int32Array(new SharedArrayBuffer(4))
    queue.serve({ port: port2, held })
    return new CommitPort({ port: port1, held })
  })
  /** Sends a batch of this many plants from a thread. */
  const send = (thread: number, plants: number) => {
    const batch = Array.from({ length: plants }, (_, id) => ({ id: BigInt(id), name: 'Fern' }))
    const outcomes = ports[thread]?.commit(batch)
    outcomes?.catch(() => {})
    return outcomes
  }
  return { queue, ports, send, transactions, ends, failures }
}

test('what waits on all ports shares the next transaction', async () => {
  const { send, transactions, ends } = openQueue(3)
  const first = send(0, 1)
  await expect.poll(() => transactions).toEqual([[1]])
  const others = [send(1, 2), send(2, 3)]
  await turnOfEventLoop()
  expect(transactions).toEqual([[1]])
  ends[0]?.resolve()
  expect(await first).toEqual(['created'])
  await expect.poll(() => transactions).toEqual([[1], [2, 3]])
  ends[1]?.resolve()
  expect((await Promise.all(others)).map((outcomes) => outcomes?.length)).toEqual([2, 3])
})

test('a transaction takes no more plants than a batch may have', async () => {
  const { send, transactions, ends } = openQueue(4)
  void send(0, 1)
  await expect.poll(() => transactions).toHaveLength(1)
  void send(1, BATCH_LIMIT - 1)
  void send(2, 1)
  void send(3, 1)
  await turnOfEventLoop()
  ends[0]?.resolve()
  await expect.poll(() => transactions.slice(1)).toEqual([[BATCH_LIMIT - 1, 1]])
  ends[1]?.resolve()
  await expect.poll(() => transactions.slice(2)).toEqual([[1]])
  ends[2]?.resolve()
})

test.each([
  ['harmless', new StoreUnavailableError('the disk is full')],
  ['left open', new OutcomeUnknownError('EIO')],
])('the error of a transaction that is %s is told to each of its batches', async (_what, error) => {
  const { send, transactions, ends, failures } = openQueue(3)
  void send(0, 1)
  await expect.poll(() => transactions).toHaveLength(1)
  const both = [send(1, 2), send(2, 3)]
  await turnOfEventLoop()
  ends[0]?.resolve()
  await expect.poll(() => transactions).toHaveLength(2)
  ends[1]?.reject(error)
  for (const outcomes of both) {
    await expect(outcomes).rejects.toThrow(error.message)
    await expect(outcomes).rejects.toBeInstanceOf(error.constructor)
  }
  expect(failures).toEqual([error])
})

test('after a fault nothing more is committed', async () => {
  const { send, transactions, ends } = openQueue(2)
  const first = send(0, 1)
  await expect.poll(() => transactions).toHaveLength(1)
  ends[0]?.reject(new OutcomeUnknownError('EIO'))
  await expect(first).rejects.toThrow(OutcomeUnknownError)
  await expect(send(1, 1)).rejects.toThrow(StoreUnavailableError)
  expect(transactions).toHaveLength(1)
})

test('a small batch waits for what another thread holds', async () => {
  const { ports, send, transactions, ends } = openQueue(2)
  ports[1]?.hold(5)
  void send(0, 3)
  await sleep(20)
  expect(transactions).toEqual([])
  void send(1, 5)
  ports[1]?.hold(0)
  await expect.poll(() => transactions).toEqual([[3, 5]])
  ends[0]?.resolve()
})

test('a small batch does not wait for long', async () => {
  const { ports, send, transactions, ends } = openQueue(2, 5)
  ports[1]?.hold(5)
  void send(0, 3)
  await expect.poll(() => transactions).toEqual([[3]])
  ends[0]?.resolve()
})

test('a batch that is worth a commit waits for nothing', async () => {
  const { ports, send, transactions, ends } = openQueue(2)
  ports[1]?.hold(5)
  void send(0, WORTH_A_COMMIT)
  await expect.poll(() => transactions).toEqual([[WORTH_A_COMMIT]])
  ends[0]?.resolve()
})

test('a thread that went away is waited for no more, and the rest go on', async () => {
  const { ports, send, transactions, ends } = openQueue(2)
  void send(1, 5)
  await expect.poll(() => transactions).toEqual([[5]])
  ports[1]?.hold(5)
  ports[1]?.close()
  const outcomes = send(0, 2)
  await turnOfEventLoop()
  ends[0]?.resolve()
  await expect.poll(() => transactions).toEqual([[5], [2]])
  ends[1]?.resolve()
  expect(await outcomes).toEqual(['created', 'created'])
})

test('closing commits what was sent', async () => {
  const { queue, ports, send, transactions, ends } = openQueue(2)
  ports[1]?.hold(5)
  const outcomes = send(0, 2)
  const closed = queue.close()
  await expect.poll(() => transactions).toEqual([[2]])
  ends[0]?.resolve()
  await closed
  expect(await outcomes).toEqual(['created', 'created'])
})
