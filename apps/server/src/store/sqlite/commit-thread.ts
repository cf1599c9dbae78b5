import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { NewPlant } from '@plant-store/contract'
import type { StoreObserver } from '../observer.ts'
import { type CreateOutcome, OutcomeUnknownError, StoreUnavailableError } from '../store.ts'
import { type CommitAnswer, toRequest } from './commit-messages.ts'
import type { KnownFile } from './known-files.ts'

/** The worker's file stands beside this one and is of the same kind: a source, or built. */
const WORKER = new URL(`./commit-worker${extname(import.meta.url)}`, import.meta.url)

/** What the thread makes while it works is short-lived, so that a small nursery is enough. */
const NURSERY_MB = 4

/** A thread of its own for commits, so that a slow disk does not hold up the event loop. */
export interface CommitThread {
  /** Whether a batch would be committed at once; false while the thread starts. */
  readonly isReady: boolean
  /** One batch at a time. */
  commit(plants: readonly NewPlant[]): Promise<CreateOutcome[]>
  close(): Promise<void>
}

function toError({ error }: Extract<CommitAnswer, { error: unknown }>): Error {
  const options = { cause: error.cause }
  if (error.name === 'StoreUnavailableError')
    return new StoreUnavailableError(error.message, options)
  if (error.name === 'OutcomeUnknownError') return new OutcomeUnknownError(error.message, options)
  return new Error(error.message, options)
}

function startWorker(path: string, files: readonly KnownFile[]): Worker {
  return new Worker(WORKER, {
    workerData: { path, files },
    resourceLimits: { maxYoungGenerationSizeMb: NURSERY_MB },
  })
}

/** Starts the thread on a database that this process has opened already, as `files`. */
export function startCommitThread(
  path: string,
  files: readonly KnownFile[],
  observer?: StoreObserver,
): CommitThread {
  const worker = startWorker(path, files)
  let isReady = false
  let pending: PromiseWithResolvers<CreateOutcome[]> | undefined
  let death: OutcomeUnknownError | undefined

  function die(cause: unknown): void {
    death ??= new OutcomeUnknownError('the thread that commits has ended', { cause })
    pending?.reject(death)
  }

  worker.on('online', () => {
    isReady = true
  })
  worker.on('message', (answer: CommitAnswer) => {
    if ('outcomes' in answer) {
      pending?.resolve(answer.outcomes)
      observer?.commitStatementEnded(answer.statementMs)
    } else pending?.reject(toError(answer))
  })
  worker.on('error', die)
  worker.on('exit', die)

  return {
    get isReady() {
      return isReady
    },
    commit(plants) {
      if (death !== undefined) return Promise.reject(death)
      pending = Promise.withResolvers()
      worker.postMessage(toRequest(plants))
      return pending.promise
    },
    async close() {
      if (death !== undefined) return
      // Not events.once, which would throw what `die` has taken note of.
      const ended = new Promise((resolve) => worker.once('exit', resolve))
      worker.postMessage(undefined)
      await ended
    },
  }
}
