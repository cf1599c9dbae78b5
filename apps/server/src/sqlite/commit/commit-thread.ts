import { extname } from 'node:path'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { NewPlant } from '@plant-store/contract'
import type { StoreObserver } from '../../store/observer.ts'
import { toError } from '../../store/sent-error.ts'
import { type CreateOutcome, OutcomeUnknownError } from '../../store/store.ts'
import type { KnownFile } from '../files/known-files.ts'
import { CheckpointThread } from './checkpoint-thread.ts'
import type { CommitEnd, CommitWorkerData, ThreadNotice, ThreadOrder } from './commit-messages.ts'
import { CommitPort } from './commit-port.ts'

/** The worker's file stands beside this one and is of the same kind: a source, or built. */
const WORKER = new URL(`./commit-worker${extname(import.meta.url)}`, import.meta.url)

/** What the thread makes while it works is short-lived, so that a small nursery is enough. */
const NURSERY_MB = 4

export interface CommitThreadOptions {
  readonly path: string
  /** Those that this process has opened already. */
  readonly files: readonly KnownFile[]
  readonly observer?: StoreObserver | undefined
  /** A commit failed, whichever thread's; once with OutcomeUnknownError, then nothing more is taken. */
  readonly onFailure: (error: Error) => void
}

/**
 * A thread of its own for commits, so that a slow disk does not hold up event loops. It commits what
 * this thread and those with whom it is shared send, and joins what waits into one transaction.
 */
export class CommitThread {
  readonly #worker: Worker
  readonly #commits: CommitPort
  readonly #copier: CheckpointThread
  readonly #onFailure: (error: Error) => void
  #isReady = false
  #isClosing = false
  #hasEnded = false

  constructor({ path, files, observer, onFailure }: CommitThreadOptions) {
    this.#copier = new CheckpointThread(path, files)
    const data: CommitWorkerData = { path, files, copier: this.#copier.state }
    this.#onFailure = onFailure
    this.#worker = new Worker(WORKER, {
      workerData: data,
      resourceLimits: { maxYoungGenerationSizeMb: NURSERY_MB },
    })
    // Because a worker's own port cannot be polled.
    this.#commits = new CommitPort(this.share(), observer)
    this.#worker.on('online', () => {
      this.#isReady = true
    })
    this.#worker.on('message', (notice: ThreadNotice) => {
      if (notice === 'start copier') this.#copier.start()
      else onFailure(toError(notice.fault))
    })
    this.#worker.on('error', (cause) => this.#end(cause))
    this.#worker.on('exit', (cause) => this.#end(cause))
  }

  /** Whether a batch would be committed at once; false while the thread starts. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** One batch at a time. */
  commit(plants: readonly NewPlant[]): Promise<CreateOutcome[]> {
    return this.#commits.commit(plants)
  }

  /** Resolves a commit that has ended, which the event loop would do in its next turn. */
  poll(): void {
    this.#commits.poll()
  }

  /** What a CommitPort needs, which may be in another thread. */
  share(): CommitEnd {
    const { port1, port2 } = new MessageChannel()
    const held = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
    const order: ThreadOrder = { serve: { port: port2, held } }
    this.#worker.postMessage(order, [port2])
    return { port: port1, held }
  }

  /** Takes nothing more: the file cannot be trusted. */
  stop(): void {
    this.#worker.postMessage('stop' satisfies ThreadOrder)
  }

  /** Commits what was sent, and ends. */
  async close(): Promise<void> {
    this.#isClosing = true
    if (!this.#hasEnded) {
      // Not events.once, which would throw what `#end` has taken note of.
      const ended = new Promise((resolve) => this.#worker.once('exit', resolve))
      this.#worker.postMessage('close' satisfies ThreadOrder)
      await ended
    }
    await this.#copier.close()
  }

  #end(cause: unknown): void {
    // What the thread has replied before is known.
    this.#commits.poll()
    this.#commits.die(cause)
    if (this.#hasEnded) return
    this.#hasEnded = true
    const fault = new OutcomeUnknownError('the thread that commits has ended', { cause })
    if (!this.#isClosing) this.#onFailure(fault)
  }
}
