import { extname } from 'node:path'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { NewPlant } from '@plant-store/contract'
import type { StoreObserver } from '../store/observer.ts'
import { type CreateOutcome, OutcomeUnknownError } from '../store/store.ts'
import type { CommitWorkerData } from './commit-worker.ts'
import type { KnownFile } from './known-files.ts'
import { type CommitRequest, type CommitResponse, outcomesOf, toRequest } from './messages.ts'

/** The worker's file stands beside this one and is of the same kind: a source, or built. */
const WORKER = new URL(`./commit-worker${extname(import.meta.url)}`, import.meta.url)

/** What the thread makes while it works is short-lived, so that a small nursery is enough. */
const NURSERY_MB = 4

/**
 * A lone create commits on the event loop's thread while the disk is this fast: handing it to
 * another thread would take longer than the commit.
 */
const FAST_COMMIT_MS = 1

export interface CommitThreadOptions {
  readonly path: string
  /** Those that this process has opened already. */
  readonly files: readonly KnownFile[]
  readonly observer?: StoreObserver | undefined
  /** Commits on this thread. */
  readonly commitHere: (plants: readonly NewPlant[]) => Promise<CreateOutcome[]>
  /** The thread has ended by itself. */
  readonly onDeath: (fault: OutcomeUnknownError) => void
}

interface Pending extends PromiseWithResolvers<CreateOutcome[]> {
  readonly request: CommitRequest
}

/** A thread of its own for commits, one batch at a time, so that a slow disk holds up no event loop. */
export class CommitThread {
  readonly #options: CommitThreadOptions
  readonly #port: MessagePort
  readonly #ended: Promise<void>
  #isReady = false
  #isClosing = false
  #batches = 0
  #pending: Pending | undefined
  #death: OutcomeUnknownError | undefined
  #lastSize = 1
  #lastLoneMs = 0

  constructor(options: CommitThreadOptions) {
    const { path, files } = options
    this.#options = options
    // Because a worker's own port cannot be polled.
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    const worker = new Worker(WORKER, {
      workerData: { path, files, port: port2 } satisfies CommitWorkerData,
      transferList: [port2],
      resourceLimits: { maxYoungGenerationSizeMb: NURSERY_MB },
    })
    // Not earlier: it would keep a process alive whose thread is forbidden.
    port1.on('message', (response: CommitResponse) => this.#take(response))
    worker.on('online', () => {
      this.#isReady = true
    })
    worker.on('error', (cause) => this.#end(cause))
    this.#ended = new Promise((resolve) => {
      worker.on('exit', (cause) => {
        this.#end(cause)
        resolve()
      })
    })
  }

  /** Commits a batch where that is fastest; here, too, while the thread starts. */
  async commit(plants: readonly NewPlant[]): Promise<CreateOutcome[]> {
    // One plant between larger batches is no lone caller's, and the event loop has more to do.
    const isLone = plants.length === 1 && this.#lastSize === 1
    this.#lastSize = plants.length
    if (!this.#isReady) return this.#options.commitHere(plants)
    if (!isLone) return this.#send(plants)
    const start = performance.now()
    const isFast = this.#lastLoneMs < FAST_COMMIT_MS
    const outcomes = await (isFast ? this.#options.commitHere(plants) : this.#send(plants))
    // The thread's time counts too: a disk that stalled once may be fast again.
    this.#lastLoneMs = performance.now() - start
    return outcomes
  }

  /** Resolves a commit that has ended, which the event loop would do in its next turn. */
  poll(): void {
    // Node.js 24 crashes where a port is asked while it closes.
    if (this.#death !== undefined) return
    const received = receiveMessageOnPort(this.#port)
    if (received !== undefined) this.#take(received.message)
  }

  /** Commits what was sent, and ends. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#port.postMessage('close')
    await this.#ended
  }

  #send(plants: readonly NewPlant[]): Promise<CreateOutcome[]> {
    if (this.#death !== undefined) return Promise.reject(this.#death)
    const request = toRequest(++this.#batches, plants)
    this.#pending = { ...Promise.withResolvers(), request }
    this.#port.postMessage(request)
    return this.#pending.promise
  }

  #take(response: CommitResponse): void {
    const { request, resolve, reject } = this.#pending ?? {}
    if (request === undefined) return
    try {
      resolve?.(outcomesOf(response, request))
    } catch (error) {
      reject?.(error)
    }
    if ('statementMs' in response)
      this.#options.observer?.commitStatementEnded(response.statementMs)
  }

  #end(cause: unknown): void {
    // What the thread has answered before is known.
    this.poll()
    if (this.#death !== undefined) return
    this.#death = new OutcomeUnknownError('the thread that commits has ended', { cause })
    this.#pending?.reject(this.#death)
    if (!this.#isClosing) this.#options.onDeath(this.#death)
  }
}
