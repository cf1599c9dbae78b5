import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { openSqliteStore } from '../../src/sqlite/sqlite.ts'
import type { OpenedStore } from '../../src/store/store.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import type { JoinedThreadData, JoinedThreadReport } from './joined-thread.ts'
import { readPlants } from './sqlite-file.ts'

async function openStore() {
  const path = join(temporaryFolder(), 'plants.db')
  const store = await openSqliteStore({ path, queueLimit: 10_000 })
  onTestFinished(() => store.close())
  return { path, store }
}

/** A thread that has joined the store, and creates plants under its name. */
async function startThread(store: OpenedStore, data: Omit<JoinedThreadData, 'share'>) {
  const { data: share, transfer } = store.share()
  const worker = new Worker(new URL('./joined-thread.ts', import.meta.url), {
    workerData: { ...data, share } satisfies JoinedThreadData,
    transferList: [...transfer],
  })
  await once(worker, 'message')
  const report = once(worker, 'message').then(([it]) => it as JoinedThreadReport)
  return { worker, report }
}

function idsUpTo(count: number): bigint[] {
  return Array.from({ length: count }, (_, id) => BigInt(id))
}

test('of threads that race for the same ids, each hears what is stored', async () => {
  const { path, store } = await openStore()
  const ids = idsUpTo(2_000)
  const names = ['Fern', 'Moss', 'Ivy', 'Fig']
  const threads = await Promise.all(
    // Of each id twice, so that a thread repeats what is its own or another's.
    names.map((name) => startThread(store, { name, ids: [...ids, ...ids], atOnce: 30 })),
  )
  const reports = await Promise.all(threads.map(({ report }) => report))
  const stored = new Map(readPlants(path).map(({ id, name }) => [id, name]))
  expect(stored.size).toBe(ids.length)
  names.forEach((name, index) => {
    const { outcomes = [] } = reports[index] ?? {}
    ids.forEach((id, place) => {
      const isOwn = stored.get(id) === name
      const heard = [outcomes[place], outcomes[place + ids.length]].sort()
      expect(heard).toEqual(isOwn ? ['already_there', 'created'] : ['id_taken', 'id_taken'])
    })
  })
  const sum = (what: 'batches' | 'statements') =>
    reports.reduce((total, report) => total + report[what], 0)
  // What waits on several ports shares a transaction, which is told of once.
  expect(sum('statements')).toBeLessThan(sum('batches') * 0.9)
})

test('a thread that ends in the middle of its batches harms no other', async () => {
  const { path, store } = await openStore()
  const staying = idsUpTo(3_000)
  const dying = idsUpTo(1_000_000).map((id) => id + 1_000_000n)
  const victim = await startThread(store, { name: 'Moss', ids: dying, atOnce: 200 })
  victim.report.catch(() => {})
  const rest = await startThread(store, { name: 'Fern', ids: staying, atOnce: 30 })
  await victim.worker.terminate()
  const { outcomes, failure } = await rest.report
  expect(new Set(outcomes)).toEqual(new Set(['created']))
  expect(failure).toBeUndefined()
  expect(readPlants(path).filter(({ name }) => name === 'Fern')).toHaveLength(staying.length)
  expect(await store.isReady()).toBe(true)
  // One that takes its place goes on.
  const next = await startThread(store, { name: 'Moss', ids: dying.slice(0, 100), atOnce: 10 })
  for (const outcome of (await next.report).outcomes) {
    expect(['created', 'already_there']).toContain(outcome)
  }
})

test('once the file is lost, every thread knows, and hears of no plant that is created', async () => {
  const { path, store } = await openStore()
  const ids = (from: bigint) => idsUpTo(100_000).map((id) => id + from)
  const threads = await Promise.all([
    startThread(store, { name: 'Fern', ids: ids(0n), atOnce: 30 }),
    startThread(store, { name: 'Moss', ids: ids(1_000_000n), atOnce: 30 }),
  ])
  rmSync(path)
  expect((await store.failure).message).toMatch(/plants\.db was deleted/)
  for (const { report } of threads) {
    const { outcomes, failure } = await report
    const firstLost = outcomes.findIndex((outcome) => outcome !== 'created')
    const after = new Set(outcomes.slice(firstLost + 60))
    expect(after).toEqual(new Set(['StoreUnavailableError']))
    expect(outcomes).toContain('OutcomeUnknownError')
    expect(failure).toMatch(/plants\.db was deleted/)
  }
  expect(await store.isReady()).toBe(false)
})
