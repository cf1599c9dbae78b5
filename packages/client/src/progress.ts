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
  /** Results a second, over about the last 5 s. */
  readonly perSecond: number
  /**
   * Where to go on after a crash: each plant with a lower index has a result, and the loop has asked
   * for another one since. A plant that failed with what ended the bulk is not passed.
   */
  readonly settledRows: number
  /** What the bulk does just now. */
  readonly state: BulkState
}

type CreatePlantsListener = (progress: CreatePlantsProgress) => unknown

function wasReplayed(headers: Headers | undefined): boolean {
  return headers?.get(headerNames.idempotentReplayed) === REPLAYED
}

const MIN_INTERVAL_MS = 100
const RATE_WINDOW_MS = 5_000

/** Counts what comes of a bulk, and notifies its listener of it. */
export class Progress {
  readonly #runtime: Runtime
  readonly #listener: CreatePlantsListener | undefined
  readonly #stateOf: () => BulkState
  readonly #taken = new Set<number>()
  readonly #unfinished = new Set<number>()
  readonly #samples: { readonly at: number; readonly results: number }[]
  #sent = 0
  #stored = 0
  #alreadyThere = 0
  #rejected = 0
  #settledRows = 0
  #isClosed = false
  #notifiedAt = Number.NEGATIVE_INFINITY
  #stopTimer: (() => void) | undefined

  constructor(
    runtime: Runtime,
    listener: CreatePlantsListener | undefined,
    stateOf: () => BulkState,
  ) {
    this.#runtime = runtime
    this.#listener = listener
    this.#stateOf = stateOf
    this.#samples = [{ at: runtime.now(), results: 0 }]
  }

  /** Rows from the first that all have a result which was taken. */
  get settledRows(): number {
    return this.#settledRows
  }

  /** The first request for a plant has ended. */
  onSent(): void {
    this.#sent++
    this.onChange()
  }

  /** A plant has its result; one that failed with what ended the bulk may be stored where it goes on later. */
  onResult(index: number, result: CreatePlantResult, isUnfinished: boolean): void {
    const { ok, meta } = result
    if (isUnfinished) this.#unfinished.add(index)
    else if (!ok) this.#rejected++
    else if (meta.attempts === 1 && wasReplayed(meta.headers)) this.#alreadyThere++
    else this.#stored++
    this.onChange()
  }

  /** The loop asks for another result after that of this row. */
  onTaken(index: number): void {
    if (this.#unfinished.has(index)) return
    this.#taken.add(index)
    while (this.#taken.delete(this.#settledRows)) this.#settledRows++
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
    const listener = this.#listener
    this.#stopTimer?.()
    this.#stopTimer = undefined
    if (listener === undefined) return
    this.#notifiedAt = this.#runtime.now()
    const progress: CreatePlantsProgress = {
      sent: this.#sent,
      stored: this.#stored,
      alreadyThere: this.#alreadyThere,
      rejected: this.#rejected,
      perSecond: this.#perSecond(),
      settledRows: this.#settledRows,
      state: this.#stateOf(),
    }
    notify(listener, progress)
  }

  #perSecond(): number {
    const samples = this.#samples
    const at = this.#notifiedAt
    const results = this.#stored + this.#alreadyThere + this.#rejected
    samples.push({ at, results })
    // The last one from before the window is where it begins.
    while ((samples[1]?.at ?? at) <= at - RATE_WINDOW_MS) samples.shift()
    const first = samples[0]
    if (first === undefined || at <= first.at) return 0
    return ((results - first.results) * 1_000) / (at - first.at)
  }
}
