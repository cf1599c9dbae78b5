import { startTimer } from './host.ts'

/** Callbacks that share a listener: Node 20 warns of a leak where a signal has more than ten. */
class Callbacks extends Set<() => void> {
  readonly callAll = () => {
    for (const callback of this) callback()
  }
}

const callbacksOf = new WeakMap<AbortSignal, Callbacks>()

/** Calls back when a signal is aborted, unless the function given back is called before. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal === undefined) return () => {}
  const callbacks = callbacksOf.get(signal) ?? new Callbacks()
  callbacksOf.set(signal, callbacks)
  signal.addEventListener('abort', callbacks.callAll)
  callbacks.add(callback)
  return () => {
    callbacks.delete(callback)
    if (callbacks.size === 0) signal.removeEventListener('abort', callbacks.callAll)
  }
}

/** Resolves after that many milliseconds, or once the signal is aborted. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      stopTimer()
      leave()
      resolve()
    }
    const stopTimer = startTimer(end, ms)
    const leave = onAbort(signal, end)
    if (signal.aborted) end()
  })
}

/** What can end a piece of work before it is done. */
export type Ending = 'aborted' | 'attempt_timeout' | 'total_timeout'

/**
 * A time and a signal that end work, whichever comes first, and at once: work that takes no signal
 * is left behind. It keeps one timer and one listener until it is closed.
 */
export class Deadline {
  /** What ended this; undefined while nothing has. */
  ending: Ending | undefined
  /** Aborted when this ends. */
  readonly signal: AbortSignal
  /** Lets go of the timer and the listener. */
  readonly close: () => void
  readonly #ended: Promise<never>

  /**
   * @param ms how long from now; Infinity for no end
   * @param ending what it is called when that time has passed
   * @param outer ends this too: the deadline around it, or the caller's signal
   */
  constructor(
    ms: number,
    ending: Ending,
    outer: { readonly signal?: AbortSignal | undefined; readonly ending?: Ending | undefined },
  ) {
    const controller = new AbortController()
    const { signal } = controller
    this.signal = signal
    this.#ended = new Promise((_resolve, reject) => onAbort(signal, () => reject(signal.reason)))
    // Nobody may be waiting for it.
    this.#ended.catch(() => {})
    const end = (by: Ending = 'aborted') => {
      this.close()
      this.ending = by
      controller.abort()
    }
    const leave = onAbort(outer.signal, () => end(outer.ending))
    const isEndless = ms === Number.POSITIVE_INFINITY
    const stopTimer = isEndless ? undefined : startTimer(() => end(ending), ms)
    this.close = () => {
      leave()
      stopTimer?.()
    }
    if (outer.signal?.aborted) end(outer.ending)
  }

  /** What the work comes to; rejects at once when this ends. */
  race<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#ended])
  }
}
