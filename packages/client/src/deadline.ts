import { onAbort } from './on-abort.ts'
import type { Runtime } from './runtime.ts'

/** What can end a piece of work before it is done. */
export type Ending = 'aborted' | 'attempt_timeout' | 'total_timeout'

export interface DeadlineOptions {
  readonly runtime: Runtime
  /** How long from now, in milliseconds; Infinity for no end. */
  readonly ms: number
  /** What it is called when that time has passed. */
  readonly ending: Ending
  /** Ends this too: the deadline around it, or the caller's signal. */
  readonly within: Deadline | AbortSignal | undefined
}

/**
 * A time and a signal that end work, whichever comes first, and at once: work that takes no signal
 * is left behind. It keeps one timer and one listener until it is closed.
 */
export class Deadline {
  readonly #runtime: Runtime
  readonly #endsAt: number
  readonly #controller = new AbortController()
  readonly #stopTimer: (() => void) | undefined
  readonly #leave: () => void
  #ending: Ending | undefined
  #interrupt: (() => void) | undefined

  constructor({ runtime, ms, ending, within }: DeadlineOptions) {
    this.#runtime = runtime
    this.#endsAt = runtime.now() + ms
    const outer = within instanceof Deadline ? within.signal : within
    const endWithin = () => this.#end(within instanceof Deadline ? within.ending : 'aborted')
    this.#leave = outer === undefined ? () => {} : onAbort(outer, endWithin)
    if (ms !== Number.POSITIVE_INFINITY) {
      this.#stopTimer = runtime.startTimer(() => this.#end(ending), ms)
    }
    if (outer?.aborted) endWithin()
  }

  /** Aborted when this ends. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** What ended this; undefined while nothing has. */
  get ending(): Ending | undefined {
    return this.#ending
  }

  /** Milliseconds until its time has passed. */
  get remainingMs(): number {
    return this.#endsAt - this.#runtime.now()
  }

  #end(ending: Ending | undefined): void {
    this.close()
    this.#ending = ending
    this.#controller.abort()
    this.#interrupt?.()
  }

  /** Lets go of the timer and the listener. */
  close(): void {
    this.#stopTimer?.()
    this.#leave()
  }

  /** What the work comes to; rejects at once when this ends. One piece of work at a time. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#interrupt = () => reject(this.signal.reason)
      if (this.#ending !== undefined) this.#interrupt()
      work.then(resolve, reject)
    })
  }

  /** Resolves after that many milliseconds; rejects at once when this ends. */
  async sleep(ms: number): Promise<void> {
    let stopTimer = () => {}
    const slept = new Promise<void>((resolve) => {
      stopTimer = this.#runtime.startTimer(resolve, ms)
    })
    try {
      await this.race(slept)
    } finally {
      stopTimer()
    }
  }
}
