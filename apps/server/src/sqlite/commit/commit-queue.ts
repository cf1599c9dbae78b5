import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { BATCH_LIMIT, WORTH_A_COMMIT } from '../../store/group-commit.ts'
import { toSentError } from '../../store/sent-error.ts'
import { OutcomeUnknownError, StoreUnavailableError } from '../../store/store.ts'
import type { CommitEnd, CommitReply, CommitRequest } from './commit-messages.ts'

export interface CommitQueueOptions {
  /** Commits batches in one transaction, and gives the outcomes of each, in order. */
  readonly commit: (requests: readonly CommitRequest[]) => Promise<Committed>
  /** Called after each transaction, when its outcomes have been sent; must not throw. */
  readonly onReplied?: () => void
  readonly onFailure: (error: unknown) => void
  /** How long a transaction is put off for threads that are about to send. In ms; default: 2. */
  readonly patienceMs?: number
}

export interface Committed {
  readonly outcomes: readonly Uint8Array[]
  /** How long the COMMIT statement took. */
  readonly statementMs: number
}

/** No outcomes, which leave open what was stored. */
const NONE = new Uint8Array()

interface Waiting {
  readonly port: MessagePort
  readonly request: CommitRequest
}

/** Longer than a usual turn of an event loop. */
const PATIENCE_MS = 2

/**
 * The batches of several threads, one transaction after the other: what waits when one begins shares
 * it, whichever thread it came from. It begins as soon as it is worth a sync, or when no thread holds
 * plants that it will send at the end of its turn.
 */
export class CommitQueue {
  readonly #options: CommitQueueOptions
  readonly #senders = new Map<MessagePort, Int32Array>()
  readonly #waiting: Waiting[] = []
  #running: Promise<void> | undefined
  #patience: NodeJS.Timeout | undefined
  #isStopped = false
  #isClosing = false

  constructor(options: CommitQueueOptions) {
    this.#options = options
  }

  /** Replies to each CommitRequest of a thread, until its port is closed. */
  serve({ port, held }: CommitEnd): void {
    this.#senders.set(port, held)
    port.on('close', () => {
      this.#senders.delete(port)
      this.#start()
    })
    port.on('message', (request: CommitRequest) => {
      this.#waiting.push({ port, request })
      this.#start()
    })
  }

  /** Refuses what comes from now on. */
  stop(): void {
    this.#isStopped = true
  }

  /** Commits what was sent, and closes all ports. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#receiveAll()
    this.#start()
    await this.#running
    for (const port of this.#senders.keys()) port.close()
  }

  #start(): void {
    if (this.#running !== undefined || this.#waiting.length === 0) return
    if (this.#isWorthIt()) this.#running = this.#run()
    else {
      this.#patience ??= setTimeout(() => {
        this.#running ??= this.#run()
      }, this.#options.patienceMs ?? PATIENCE_MS)
    }
  }

  #isWorthIt(): boolean {
    const plants = this.#waiting.reduce((sum, { request }) => sum + request.ids.length, 0)
    if (plants >= WORTH_A_COMMIT || this.#isClosing) return true
    const here = new Set(this.#waiting.map(({ port }) => port))
    return [...this.#senders].every(([port, held]) => here.has(port) || Atomics.load(held, 0) === 0)
  }

  async #run(): Promise<void> {
    clearTimeout(this.#patience)
    this.#patience = undefined
    do {
      await this.#commitTogether(this.#takeTransaction())
      if (!this.#isStopped) this.#options.onReplied?.()
      this.#receiveAll()
    } while (this.#waiting.length > 0 && this.#isWorthIt())
    this.#running = undefined
    this.#start()
  }

  #receiveAll(): void {
    for (const port of this.#senders.keys()) {
      for (;;) {
        const received = receiveMessageOnPort(port)
        if (received === undefined) break
        this.#waiting.push({ port, request: received.message })
      }
    }
  }

  #takeTransaction(): Waiting[] {
    let plants = 0
    const end = this.#waiting.findIndex(({ request: { ids } }) => {
      plants += ids.length
      return plants > BATCH_LIMIT
    })
    // A batch that is too large by itself goes alone.
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : Math.max(1, end))
  }

  async #commitTogether(batches: readonly Waiting[]): Promise<void> {
    const { commit, onFailure } = this.#options
    try {
      if (this.#isStopped) throw new StoreUnavailableError('the store has failed')
      const { outcomes, statementMs } = await commit(batches.map(({ request }) => request))
      batches.forEach(({ port, request: { batch } }, index) => {
        const timing = index === 0 ? { statementMs } : {}
        const reply: CommitReply = { batch, outcomes: outcomes[index] ?? NONE, ...timing }
        port.postMessage(reply)
      })
    } catch (thrown) {
      if (thrown instanceof OutcomeUnknownError) this.stop()
      onFailure(thrown)
      const error = toSentError(thrown)
      for (const { port, request } of batches) {
        port.postMessage({ batch: request.batch, error } satisfies CommitReply)
      }
    }
  }
}
