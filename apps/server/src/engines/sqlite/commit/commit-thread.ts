import { extname } from 'node:path'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { NewPlant } from '@plant-store/contract'
import type { StoreObserver } from '../../../store/observer.ts'
import { type CreateOutcome, OutcomeUnknownError } from '../../../store/store.ts'
import type { KnownFile } from '../files/known-files.ts'
import {
  type CommitReply,
  type CommitRequest,
  type CommitWorkerData,
  outcomesOf,
  toRequest,
} from './commit-messages.ts'

/** The worker's file stands beside this one and is of the same kind: a source, or built. */
const WORKER = new URL(`./commit-worker${extname(import.meta.url)}`, import.meta.url)

/** What the thread makes while it works is short-lived, so that a small nursery is enough. */
const NURSERY_MB = 4

interface Pending extends PromiseWithResolvers<CreateOutcome[]> {
  readonly request: CommitRequest
}

/**
 * A thread of its own for commits, so that a slow disk does not hold up the event loop. It opens
 * the database that this process has opened already, as `files`.
 */
export class CommitThread {
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #observer: StoreObserver | undefined
  #isReady = false
  #batches = 0
  #pending: Pending | undefined
  #death: OutcomeUnknownError | undefined

  constructor(path: string, files: readonly KnownFile[], observer?: StoreObserver) {
    // Because a worker's own port cannot be polled.
    const { port1, port2 } = new MessageChannel()
    const data: CommitWorkerData = { path, files, port: port2 }
    this.#port = port1
    this.#observer = observer
    this.#worker = new Worker(WORKER, {
      workerData: data,
      transferList: [port2],
      resourceLimits: { maxYoungGenerationSizeMb: NURSERY_MB },
    })
    this.#worker.on('online', () => {
      this.#isReady = true
    })
    this.#port.on('message', (reply: CommitReply) => this.#take(reply))
    this.#worker.on('error', (cause) => this.#die(cause))
    this.#worker.on('exit', (cause) => this.#die(cause))
  }

  /** Whether a batch would be committed at once; false while the thread starts. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** One batch at a time. */
  commit(plants: readonly NewPlant[]): Promise<CreateOutcome[]> {
    if (this.#death !== undefined) return Promise.reject(this.#death)
    const request = toRequest(++this.#batches, plants)
    this.#pending = { ...Promise.withResolvers(), request }
    this.#port.postMessage(request)
    return this.#pending.promise
  }

  /** Resolves a commit that has ended, which the event loop would do in its next turn. */
  poll(): void {
    const received = receiveMessageOnPort(this.#port)
    if (received !== undefined) this.#take(received.message)
  }

  async close(): Promise<void> {
    if (this.#death !== undefined) return
    // Not events.once, which would throw what `#die` has taken note of.
    const ended = new Promise((resolve) => this.#worker.once('exit', resolve))
    this.#port.postMessage(undefined)
    await ended
  }

  #take(reply: CommitReply): void {
    if (this.#pending !== undefined) resolveWith(reply, this.#pending)
    if ('statementMs' in reply) this.#observer?.commitStatementEnded(reply.statementMs)
  }

  #die(cause: unknown): void {
    // What the thread has replied before is known.
    this.poll()
    this.#death ??= new OutcomeUnknownError('the thread that commits has ended', { cause })
    this.#pending?.reject(this.#death)
  }
}

function resolveWith(reply: CommitReply, { request, resolve, reject }: Pending): void {
  try {
    resolve(outcomesOf(reply, request))
  } catch (error) {
    reject(error)
  }
}
