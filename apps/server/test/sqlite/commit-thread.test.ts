import { DatabaseSync } from 'node:sqlite'
import { setImmediate as turnOfEventLoop } from 'node:timers/promises'
import type { NewPlant } from '@plant-store/contract'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { CommitThread } from '../../src/sqlite/commit-thread.ts'
import { knowFiles } from '../../src/sqlite/known-files.ts'
import { openDatabase } from '../../src/sqlite/open.ts'
import { preparePlantInsert } from '../../src/sqlite/plants.ts'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { createTransactions } from '../../src/sqlite/transactions.ts'

const SLOW_MS = 20

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** A thread beside commits here, which are noted and can be made slow. */
async function openThread() {
  const path = `${temporaryFolder()}/plants.db`
  const database = await openDatabase(path)
  const insertPlants = preparePlantInsert(database)
  const here: bigint[] = []
  const disk = { isSlow: false }
  const transactions = createTransactions(database, () => {})
  const commitHere = (plants: readonly NewPlant[]) => {
    here.push(...plants.map(({ id }) => id))
    if (disk.isSlow) block(SLOW_MS)
    return transactions.write(() => insertPlants(plants))
  }
  const files = knowFiles(path)
  const deaths: unknown[] = []
  const onDeath = (fault: unknown) => deaths.push(fault)
  const thread = new CommitThread({ path, files, commitHere, onDeath })
  onTestFinished(async () => {
    await thread.close()
    database.close()
    expect(deaths).toEqual([])
  })
  return { thread, here, disk, path }
}

test('a lone plant leaves this thread after a slow commit, and comes back after a fast one', async () => {
  const { thread, here, disk, path } = await openThread()
  let id = 0n
  const commitUntil = async (isDone: () => boolean) => {
    do {
      // The thread reports itself by events.
      await turnOfEventLoop()
      await thread.commit([{ id: ++id, name: 'Fern' }])
    } while (!isDone() && id < 10_000n)
  }
  const isInThread = () => here.at(-1) !== id

  disk.isSlow = true
  await commitUntil(isInThread)
  expect(isInThread()).toBe(true)
  disk.isSlow = false
  await commitUntil(() => !isInThread())
  expect(isInThread()).toBe(false)

  const reader = new DatabaseSync(path, { readOnly: true })
  expect(reader.prepare('SELECT count(*) AS n FROM plants').get()).toEqual({ n: Number(id) })
  reader.close()
})

test('within one turn of the event loop, the thread commits one batch after the other', async () => {
  const store = await openSqliteStore({ path: `${temporaryFolder()}/plants.db` })
  onTestFinished(() => store.close())
  let id = 0n
  let ended = 0
  const create = async () => {
    await store.plants.create({ id: ++id, name: 'Fern' })
    ended++
  }
  /** Without a turn of the event loop, in which a commit's end would arrive anyway. */
  const createMany = async (count: number) => {
    for (; count > 0; count--) void create()
    await new Promise((resolve) => process.nextTick(resolve))
  }
  do {
    ended = 0
    await turnOfEventLoop()
    await createMany(100)
    // The first batches are committed on this thread, while the other one starts.
  } while (ended > 0)

  const deadline = performance.now() + 10_000
  while (ended < 100 && performance.now() < deadline) {
    block(1)
    await createMany(1)
  }
  expect(ended).toBeGreaterThanOrEqual(100)
})

test('a batch gets its outcomes, though the thread ends while nobody listens', async () => {
  const { thread, here } = await openThread()
  const batch = (...ids: bigint[]) => thread.commit(ids.map((id) => ({ id, name: 'Fern' })))
  do {
    here.length = 0
    await turnOfEventLoop()
    await batch(1n, 2n)
  } while (here.length > 0)
  const outcomes = batch(3n, 4n)
  const closed = thread.close()
  block(300)
  expect(await outcomes).toEqual(['created', 'created'])
  await closed
})
