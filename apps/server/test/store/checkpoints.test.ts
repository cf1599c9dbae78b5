import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { CheckpointThread } from '../../src/sqlite/commit/checkpoint-thread.ts'
import { Checkpoints } from '../../src/sqlite/commit/checkpoints.ts'
import { copierStates } from '../../src/sqlite/commit/copier-state.ts'
import { openDatabase } from '../../src/sqlite/database/database.ts'
import { LOG_LIMIT_BYTES, openConnection } from '../../src/sqlite/database/durable.ts'
import { type KnownFile, knowFiles } from '../../src/sqlite/files/known-files.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { turnOfEventLoop } from './open-group.ts'

const SQLITE_LIMIT = 1_000

/** One frame of the log for each plant. */
const NAME = 'a long name '.repeat(250)

interface LogState {
  readonly log: number
  readonly checkpointed: number
}

/** A store whose commits the test makes, with the thread that copies its log. */
async function openStore(forge: (files: KnownFile[]) => KnownFile[] = (files) => files) {
  const path = join(temporaryFolder(), 'plants.db')
  const opened = await openDatabase(path)
  const database = openConnection(path)
  const thread = new CheckpointThread(path, forge(knowFiles(path)))
  const checkpoints = new Checkpoints(database, thread.state, () => thread.start())
  onTestFinished(async () => {
    await thread.close()
    database.close()
    opened.close()
  })
  const insert = database.prepare('INSERT INTO plants VALUES (?, ?, NULL)')
  const noop = database.prepare('PRAGMA wal_checkpoint(NOOP)')
  const look = () => noop.get() as unknown as LogState
  const state = () => Atomics.load(thread.state, 0)
  let id = 0
  let ordered = 0
  const commit = (plants: number) => {
    database.exec('BEGIN')
    for (let plant = 0; plant < plants; plant++) insert.run(++id, NAME)
    database.exec('COMMIT')
  }
  /** Commits, and gives how many frames the thread that commits has copied itself. */
  const commitAndCopy = async (plants: number) => {
    commit(plants)
    const [before, stateBefore] = [look(), state()]
    checkpoints.afterCommit()
    const isCopying = state() !== copierStates.idle
    if (stateBefore === copierStates.idle && isCopying) ordered++
    const copied =
      stateBefore === copierStates.idle && !isCopying
        ? look().checkpointed - before.checkpointed
        : 0
    // This thread is the main thread too, which syncs what was copied.
    do await turnOfEventLoop()
    while (state() === copierStates.syncing)
    return copied
  }
  const autocheckpoint = () =>
    database.prepare('PRAGMA wal_autocheckpoint').get()?.wal_autocheckpoint
  return { path, thread, look, commitAndCopy, state, orders: () => ordered, autocheckpoint }
}

/** Commits until the thread that copies has taken SQLite's checkpoints over. */
async function startThread({
  commitAndCopy,
  autocheckpoint,
}: Awaited<ReturnType<typeof openStore>>) {
  while (autocheckpoint() !== 0) await commitAndCopy(100)
}

describe('checkpoints beside the commits', () => {
  test('another thread copies most of the log, and the log begins anew again and again', async () => {
    const store = await openStore()
    await startThread(store)
    let [written, copiedHere, beginnings, longest] = [0, 0, 0, 0]
    for (let commits = 0; commits < 300; commits++) {
      const before = store.look()
      copiedHere += await store.commitAndCopy(50)
      const { log } = store.look()
      if (log < before.log) beginnings++
      written += 50
      longest = Math.max(longest, log)
    }
    expect(store.autocheckpoint()).toBe(0)
    expect(beginnings).toBeGreaterThan(2)
    expect(longest).toBeLessThan(8 * SQLITE_LIMIT)
    expect(copiedHere).toBeLessThan(written / 2)
  })

  test('a commit that is larger than the log usually is does not make it grow for ever', async () => {
    const store = await openStore()
    await startThread(store)
    let longest = 0
    for (let commits = 0; commits < 20; commits++) {
      await store.commitAndCopy(3 * SQLITE_LIMIT)
      longest = Math.max(longest, store.look().log)
    }
    expect(longest).toBeLessThan(15 * SQLITE_LIMIT)
  })

  test('commits wait for a copy that is slower than they are', async () => {
    const { commitAndCopy, thread, look } = await openStore()
    // As if a thread copied that never ends.
    Atomics.store(thread.state, 0, copierStates.idle)
    while (Atomics.load(thread.state, 0) === copierStates.idle) await commitAndCopy(100)
    const { log } = look()
    const timeToCommit = async () => {
      const startedAt = performance.now()
      await commitAndCopy(100)
      return performance.now() - startedAt
    }
    while (look().log < log + SQLITE_LIMIT - 200) await commitAndCopy(100)
    expect(await timeToCommit()).toBeLessThan(500)
    await commitAndCopy(100)
    expect(await timeToCommit()).toBeGreaterThan(900)
    Atomics.store(thread.state, 0, copierStates.absent)
  })

  test('what a long reader let grow is copied beside the commits too, and cut off in steps', async () => {
    const store = await openStore()
    await startThread(store)
    const logBytes = () => statSync(`${store.path}-wal`).size
    const reader = new DatabaseSync(store.path, { readOnly: true })
    reader.exec('BEGIN; SELECT count(*) FROM plants')
    const ordersBefore = store.orders()
    while (store.look().log < 40 * SQLITE_LIMIT) await store.commitAndCopy(100)
    // Not at each of some 370 commits, because there is nothing to copy.
    expect(store.orders() - ordersBefore).toBeLessThan(60)
    const held = store.look()
    expect(held.checkpointed).toBeLessThan(5 * SQLITE_LIMIT)
    const largest = logBytes()
    reader.close()
    let copiedHere = 0
    const sizes = new Set<number>()
    while (logBytes() > LOG_LIMIT_BYTES) {
      copiedHere += await store.commitAndCopy(100)
      sizes.add(logBytes())
    }
    expect(copiedHere).toBeLessThan(5 * SQLITE_LIMIT)
    expect([...sizes].filter((size) => size < largest && size > LOG_LIMIT_BYTES)).not.toEqual([])
  })
})

describe('without the thread', () => {
  test.each([
    ['that cannot start, because its file is another', true],
    ['that ends', false],
  ])('one %s: SQLite makes its own checkpoints', async (_what, isForged) => {
    const forge = (files: KnownFile[]) => files.map((file) => ({ ...file, inode: file.inode + 1n }))
    const store = await openStore(isForged ? forge : undefined)
    if (!isForged) {
      await startThread(store)
      expect(store.autocheckpoint()).toBe(0)
      await store.thread.close()
    }
    let longest = 0
    for (let commits = 0; commits < 100; commits++) {
      await store.commitAndCopy(50)
      if (commits > 50) longest = Math.max(longest, store.look().log)
    }
    expect(store.state()).toBe(copierStates.absent)
    expect(store.autocheckpoint()).toBe(SQLITE_LIMIT)
    expect(longest).toBeLessThan(2 * SQLITE_LIMIT)
  })
})
