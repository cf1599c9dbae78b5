import { Worker } from 'node:worker_threads'
import type { CreateOutcome } from '@plant-store/server/store/store.js'
import type { Commit } from './commit.ts'

/** Commits in a worker thread, one batch at a time, as a group commit asks for them. */
export function openWorkerCommit(path: string, delayMs: number): Commit {
  const worker = new Worker(new URL('./commit-worker.ts', import.meta.url), {
    workerData: { path, delayMs },
  })
  let resolve: (outcomes: CreateOutcome[]) => void = () => {}
  // An error of the worker has no listener here on purpose: it ends this process, and the run.
  worker.on('message', (outcomes: CreateOutcome[]) => resolve(outcomes))
  return (plants) =>
    new Promise((settle) => {
      resolve = settle
      worker.postMessage(plants)
    })
}
