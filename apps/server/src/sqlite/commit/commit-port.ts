import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { NewPlant } from '@plant-store/contract'
import type { StoreObserver } from '../../store/observer.ts'
import { type CreateOutcome, OutcomeUnknownError } from '../../store/store.ts'
import {
  type CommitEnd,
  type CommitReply,
  type CommitRequest,
  outcomesOf,
  toRequest,
} from './commit-messages.ts'

interface Pending extends PromiseWithResolvers<CreateOutcome[]> {
  readonly request: CommitRequest
}

/** The way of one thread's batches to the thread that commits. */
export class CommitPort {
  readonly #port: MessagePort
  readonly #held: Int32Array
  readonly #observer: StoreObserver | undefined
  #batches = 0
  #pending: Pending | undefined
  #death: OutcomeUnknownError | undefined

  constructor({ port, held }: CommitEnd, observer?: StoreObserver) {
    this.#port = port
    this.#held = held
    this.#observer = observer
    port.on('message', (reply: CommitReply) => this.#take(reply))
  }

  /** Says how many plants this thread holds: other threads' may wait for them. */
  hold(plants: number): void {
    Atomics.store(this.#held, 0, plants)
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
    // Node.js 24 crashes where a port is asked while it closes.
    if (this.#death !== undefined) return
    const received = receiveMessageOnPort(this.#port)
    if (received !== undefined) this.#take(received.message)
  }

  /** The thread that commits has ended, or this port is of no more use. */
  die(cause?: unknown): void {
    this.#death ??= new OutcomeUnknownError('the thread that commits has ended', { cause })
    this.#pending?.reject(this.#death)
  }

  close(): void {
    this.#port.close()
  }

  #take(reply: CommitReply): void {
    if (this.#pending !== undefined) resolveWith(reply, this.#pending)
    if ('outcomes' in reply && reply.statementMs !== undefined) {
      this.#observer?.commitStatementEnded(reply.statementMs)
    }
  }
}

function resolveWith(reply: CommitReply, { request, resolve, reject }: Pending): void {
  try {
    resolve(outcomesOf(reply, request))
  } catch (error) {
    reject(error)
  }
}
