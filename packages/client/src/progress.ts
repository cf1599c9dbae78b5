import { headerNames, REPLAYED } from '@plant-store/contract'
import type { CreatePlantResult } from './client.ts'
import { notify } from './events.ts'
import type { BulkState } from './outage.ts'
import type { Runtime } from './runtime.ts'

/** How far a bulk has come; all counts are in plants. */
export interface CreatePlantsProgress {
  /** Plants of which a request was sent and has ended. */
  readonly sent: number
  /** Plants that were stored. */
  readonly stored: number
  /**
   * Plants that the server had before. One that took several requests counts as stored, because its
   * own first request may have stored it.
   */
  readonly alreadyThere: number
  /** Plants that came back with an error of their own, rather than with what ended the bulk. */
  readonly rejected: number
  /**
   * Where to go on after a crash: each plant with a lower index has a result, and the loop has asked
   * for another one since. A plant that failed with what ended the bulk is not passed.
   */
  readonly settledRows: number
  /** What the bulk does just now. */
  readonly state: BulkState
}

const MIN_INTERVAL_MS = 100

/** Counts what comes of a bulk, and notifies its listener of it, at most ten times a second. */
export class Progress {
  readonly #runtime: Runtime
  readonly #listener: ((progress: CreatePlantsProgress) => unknown) | undefined
  readonly #stateOf: () => BulkState
  readonly #counts = { sent: 0, stored: 0, alreadyThere: 0, rejected: 0, settledRows: 0 }
  readonly #taken = new Set<number>()
  readonly #unfinished = new Set<number>()
  #isClosed = false
  #notifiedAt = Number.NEGATIVE_INFINITY
  #stopTimer: (() => void) | undefined

  constructor(
    runtime: Runtime,
    listener: ((progress: CreatePlantsProgress) => unknown) | undefined,
    stateOf: () => BulkState,
  ) {
    this.#runtime = runtime
    this.#listener = listener
    this.#stateOf = stateOf
  }

  /** Rows from the first that all have a result which was taken. */
  get settledRows(): number {
    return this.#counts.settledRows
  }

  /** The first request for a plant has ended. */
  onSent(): void {
    this.#counts.sent++
    this.onChange()
  }

  /** A plant has its result; one that failed with what ended the bulk may be stored where it goes on later. */
  onResult(index: number, { ok, meta }: CreatePlantResult, isUnfinished: boolean): void {
    const wasThere =
      meta.attempts === 1 && meta.headers?.get(headerNames.idempotentReplayed) === REPLAYED
    if (isUnfinished) this.#unfinished.add(index)
    else this.#counts[ok ? (wasThere ? 'alreadyThere' : 'stored') : 'rejected']++
    this.onChange()
  }

  /** The loop asks for another result after that of this row. */
  onTaken(index: number): void {
    if (this.#unfinished.has(index)) return
    this.#taken.add(index)
    while (this.#taken.delete(this.#counts.settledRows)) this.#counts.settledRows++
    this.onChange()
  }

  /** Notifies the listener now, or as soon as enough time has passed since it was notified. */
  onChange(): void {
    if (this.#listener === undefined || this.#isClosed || this.#stopTimer !== undefined) return
    const waitMs = this.#notifiedAt + MIN_INTERVAL_MS - this.#runtime.now()
    if (waitMs <= 0) this.#notify()
    else this.#stopTimer = this.#runtime.startTimer(() => this.#notify(), waitMs)
  }

  /** Notifies the listener for the last time. */
  close(): void {
    this.#isClosed = true
    this.#notify()
  }

  #notify(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    this.#notifiedAt = this.#runtime.now()
    notify(this.#listener, { ...this.#counts, state: this.#stateOf() })
  }
}
