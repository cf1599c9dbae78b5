import { abortError } from './errors.ts'
import { startTimer } from './host.ts'

/** Callbacks that share a listener: Node 20 warns of a leak where a signal has more than ten. */
class Callbacks extends Set<() => void> {
  handleEvent() {
    for (const callback of this) callback()
  }
}
const callbacksOf = new WeakMap<AbortSignal, Callbacks>()

/** Calls back when a signal is aborted, unless the function given back is called before. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal === undefined) return () => {}
  const callbacks = callbacksOf.get(signal) ?? new Callbacks()
  callbacksOf.set(signal, callbacks)
  signal.addEventListener('abort', callbacks)
  callbacks.add(callback)
  return () => {
    callbacks.delete(callback)
    if (callbacks.size === 0) signal.removeEventListener('abort', callbacks)
  }
}

/** Resolves after that many milliseconds, or once the signal is aborted. */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const never = new Promise<never>(() => {})
  await new Deadline(ms, () => undefined, signal).race(never).catch(() => {})
}

/**
 * A time and a caller's signal that end work, whichever comes first, and at once: work that takes no
 * signal is left behind.
 */
export class Deadline {
  /** Aborted when this ends, for the reason that `race` rejects with. */
  readonly signal: AbortSignal
  /** Lets go of the timer and the caller's signal. */
  readonly close: () => void
  readonly #ended: Promise<never>

  /** @param toReason the reason once that many milliseconds have passed; Infinity for no end */
  constructor(ms: number, toReason: () => unknown, outer: AbortSignal | undefined) {
    const controller = new AbortController()
    const { signal } = controller
    this.signal = signal
    this.#ended = new Promise((_resolve, reject) => onAbort(signal, () => reject(signal.reason)))
    // Nobody may be waiting for it.
    this.#ended.catch(() => {})
    const end = (reason: unknown) => {
      this.close()
      controller.abort(reason)
    }
    const abort = () => end(abortError(outer?.reason, 'no'))
    const leave = onAbort(outer, abort)
    const stopTimer = ms === Infinity ? leave : startTimer(() => end(toReason()), ms)
    this.close = () => {
      leave()
      stopTimer()
    }
    if (outer?.aborted) abort()
    else if (ms <= 0) end(toReason())
  }

  /** What the work comes to; rejects at once when this ends. */
  race<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#ended])
  }
}
