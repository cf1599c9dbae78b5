import type { Runtime } from './runtime.ts'

interface Listener {
  readonly callbacks: Set<() => void>
  readonly notifyAll: () => void
}

const listeners = new WeakMap<AbortSignal, Listener>()

/**
 * Calls back when a signal is aborted, unless the function given back is called before. All
 * callbacks share one listener: Node 20 warns of a leak where a signal has more than ten.
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal === undefined) return () => {}
  let listener = listeners.get(signal)
  if (listener === undefined) {
    const callbacks = new Set<() => void>()
    const notifyAll = () => {
      for (const one of callbacks) one()
    }
    listener = { callbacks, notifyAll }
    listeners.set(signal, listener)
  }
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
  readonly #stopTimer: (() => void) | undefined
  readonly #leave: () => void
  /** Made where somebody asks for its signal: it costs more than all else here. */
  #controller: AbortController | undefined
  readonly #callbacks = new Set<() => void>()
  #ending: Ending | undefined
  #interrupt = () => {}

  constructor({ runtime, ms, ending, within }: DeadlineOptions) {
    this.#runtime = runtime
    this.#endsAt = runtime.now() + ms
    const outer = within instanceof Deadline ? within : undefined
    const endWithin = () => this.#end(outer?.ending ?? 'aborted')
    this.#leave = outer?.onEnd(endWithin) ?? onAbort(within as AbortSignal | undefined, endWithin)
    if (ms !== Number.POSITIVE_INFINITY) {
      this.#stopTimer = runtime.startTimer(() => this.#end(ending), ms)
    }
    if (within instanceof Deadline ? within.ending : within?.aborted) endWithin()
  }

  /** Aborted when this ends. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#ending !== undefined) this.#controller.abort()
    }
    return this.#controller.signal
  }

  /** Calls back when this ends, unless the function given back is called before. */
  onEnd(callback: () => void): () => void {
    this.#callbacks.add(callback)
    return () => void this.#callbacks.delete(callback)
  }

  /** @throws the reason of its signal once this has ended. */
  throwIfEnded(): void {
    if (this.#ending !== undefined) throw this.signal.reason
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
    this.#controller?.abort()
    for (const callback of this.#callbacks) callback()
    this.#interrupt()
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
