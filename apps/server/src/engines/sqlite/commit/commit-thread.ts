import { extname } from 'node:path'
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { NewPlant } from '@plant-store/contract'
import type { StoreObserver } from '../../../store/observer.ts'
import {
  type CreateOutcome,
  OutcomeUnknownError,
  StoreUnavailableError,
} from '../../../store/store.ts'
import type { KnownFile } from '../files/known-files.ts'
import { type CommitReply, type CommitWorkerData, toRequest } from './commit-messages.ts'

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
  /** Settles a commit that has ended, which the event loop would do in its next turn. */
  poll(): void
  close(): Promise<void>
}

function toError({ error }: Extract<CommitReply, { error: unknown }>): Error {
  const options = { cause: error.cause }
  if (error.name === 'StoreUnavailableError')
    return new StoreUnavailableError(error.message, options)
  if (error.name === 'OutcomeUnknownError') return new OutcomeUnknownError(error.message, options)
  return new Error(error.message, options)
}

function startWorker(data: CommitWorkerData): Worker {
  return new Worker(WORKER, {
    workerData: data,
    transferList: [data.port],
    resourceLimits: { maxYoungGenerationSizeMb: NURSERY_MB },
  })
}

/** Starts the thread on a database that this process has opened already, as `files`. */
export function startCommitThread(
  path: string,
  files: readonly KnownFile[],
  observer?: StoreObserver,
): CommitThread {
  // Because a worker's own port cannot be polled.
  const { port1: port, port2 } = new MessageChannel()
  const worker = startWorker({ path, files, port: port2 })
  let isReady = false
  let pending: PromiseWithResolvers<CreateOutcome[]> | undefined
  let death: OutcomeUnknownError | undefined

  function poll(): void {
    const received = receiveMessageOnPort(port)
    if (received !== undefined) take(received.message)
  }

  function die(cause: unknown): void {
    // What the thread has answered before is known.
    poll()
    death ??= new OutcomeUnknownError('the thread that commits has ended', { cause })
    pending?.reject(death)
  }

  function take(reply: CommitReply): void {
    if ('outcomes' in reply) {
      pending?.resolve(reply.outcomes)
      observer?.commitStatementEnded(reply.statementMs)
    } else pending?.reject(toError(reply))
  }

  worker.on('online', () => {
    isReady = true
  })
  port.on('message', take)
  worker.on('error', die)
  worker.on('exit', die)

  return {
    get isReady() {
      return isReady
    },
    commit(plants) {
      if (death !== undefined) return Promise.reject(death)
      pending = Promise.withResolvers()
      port.postMessage(toRequest(plants))
      return pending.promise
    },
    poll,
    async close() {
      if (death !== undefined) return
      // Not events.once, which would throw what `die` has taken note of.
      const ended = new Promise((resolve) => worker.once('exit', resolve))
      port.postMessage(undefined)
      await ended
    },
  }
}
