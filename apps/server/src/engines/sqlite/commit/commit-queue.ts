import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { BATCH_LIMIT } from '../../../store/group-commit.ts'
import { OutcomeUnknownError, StoreUnavailableError } from '../../../store/store.ts'
import { type CommitReply, type CommitRequest, toSentError } from './commit-messages.ts'

export interface CommitQueueOptions {
  /** Commits batches in one transaction, and gives the outcomes of each, in order. */
  readonly commit: (requests: readonly CommitRequest[]) => Promise<Committed>
  readonly onFailure: (error: unknown) => void
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

/**
 * The batches of several ports, one transaction after the other: what waits when one begins shares
 * it, whichever port it came from.
 */
export class CommitQueue {
  readonly #options: CommitQueueOptions
  readonly #ports = new Set<MessagePort>()
  readonly #waiting: Waiting[] = []
  #running: Promise<void> | undefined
  #isStopped = false

  constructor(options: CommitQueueOptions) {
    this.#options = options
  }

  /** Replies to each CommitRequest on the port, until the port is closed. */
  serve(port: MessagePort): void {
    this.#ports.add(port)
    port.on('close', () => this.#ports.delete(port))
    port.on('message', (request: CommitRequest) => {
      this.#waiting.push({ port, request })
      this.#running ??= this.#run()
    })
  }

  /** Refuses what comes from now on. */
  stop(): void {
    this.#isStopped = true
  }

  /** Commits what was sent, and closes all ports. */
  async close(): Promise<void> {
    await (this.#running ?? this.#run())
    for (const port of this.#ports) port.close()
  }

  async #run(): Promise<void> {
    for (;;) {
      this.#receiveAll()
      if (this.#waiting.length === 0) break
      await this.#commitTogether(this.#takeTransaction())
    }
    this.#running = undefined
  }

  #receiveAll(): void {
    for (const port of this.#ports) {
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
        port.postMessage({
          batch,
          outcomes: outcomes[index] ?? NONE,
          ...timing,
        } satisfies CommitReply)
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
