import type { Runtime } from './runtime.ts'

const listeners = new WeakMap<AbortSignal, { callbacks: Set<() => void>; notifyAll: () => void }>()

/**
 * Calls back when a signal is aborted, unless the function given back is called before. All
 * callbacks share one listener: Node 20 warns of a leak where a signal has more than ten.
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal === undefined) return () => {}
  const added = new Set<() => void>()
  const listener = listeners.get(signal) ?? {
    callbacks: added,
    notifyAll: () => {
      for (const one of added) one()
    },
  }
  listeners.set(signal, listener)
  const { callbacks, notifyAll } = listener
  if (callbacks.size === 0) signal.addEventListener('abort', notifyAll)
  callbacks.add(callback)
  return () => {
    if (callbacks.delete(callback) && callbacks.size === 0) {
      signal.removeEventListener('abort', notifyAll)
    }
  }
}

/** What can end a piece of work before it is done. */
export type Ending = 'aborted' | 'attempt_timeout' | 'total_timeout'

/**
 * A time and a signal that end work, whichever comes first, and at once: work that takes no signal
 * is left behind. It keeps one timer and one listener until it is closed.
 */
export class Deadline {
  readonly #runtime: Runtime
  readonly #endsAt: number
  readonly #stopTimer: (() => void) | undefined
  readonly #leave: () => void
  readonly #controller = new AbortController()
  #ending: Ending | undefined

  /**
   * @param ms how long from now; Infinity for no end
   * @param ending what it is called when that time has passed
   * @param within ends this too: the deadline around it, or the caller's signal
   */
  constructor(
    runtime: Runtime,
    ms: number,
    ending: Ending,
    within: Deadline | AbortSignal | undefined,
  ) {
    this.#runtime = runtime
    this.#endsAt = runtime.now() + ms
    const outer = within instanceof Deadline ? within : undefined
    const signal = outer?.signal ?? (within as AbortSignal | undefined)
    const endWithin = () => this.#end(outer?.ending ?? 'aborted')
    this.#leave = onAbort(signal, endWithin)
    if (ms !== Number.POSITIVE_INFINITY) {
      this.#stopTimer = runtime.startTimer(() => this.#end(ending), ms)
    }
    if (signal?.aborted) endWithin()
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

  #end(ending: Ending): void {
    this.close()
    this.#ending = ending
    this.#controller.abort()
  }

  /** Lets go of the timer and the listener. */
  close(): void {
    this.#stopTimer?.()
    this.#leave()
  }

  /** What the work comes to; rejects at once when this ends. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const leave = onAbort(this.signal, () => reject(this.signal.reason))
      if (this.#ending !== undefined) reject(this.signal.reason)
      work.then(resolve, reject).finally(leave)
    })
  }

  /** Resolves after that many milliseconds; rejects at once when this ends. */
  async sleep(ms: number): Promise<void> {
    let stopTimer = () => {}
    const slept = new Promise<void>((resolve) => {
      stopTimer = this.#runtime.startTimer(resolve, ms)
    })
    await this.race(slept).finally(stopTimer)
  }
}
