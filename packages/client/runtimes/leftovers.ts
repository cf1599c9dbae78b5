/** Timers of the runtime's own fetch, which the client neither starts nor could stop. */
const RUNTIME_FRAME = /node:internal|ext:|\[native/

/** The frame that called the function that calls this. */
function isFromRuntime(): boolean {
  const frames = (new Error().stack ?? '').split('\n').filter((line) => /\bat\b|@/.test(line))
  return RUNTIME_FRAME.test(frames[2] ?? '')
}

export interface Observed {
  count(): number
  stop(): void
}

/** Counts the timers that were started since and have neither fired nor been cleared. */
export function watchTimers(): Observed {
  const { setTimeout: start, clearTimeout: clear } = globalThis
  const waiting = new Set<unknown>()
  const startWatched = (action: () => void, ms?: number, ...rest: unknown[]) => {
    const ignored = isFromRuntime()
    const timer = start(() => {
      waiting.delete(timer)
      ;(action as (...rest: unknown[]) => void)(...rest)
    }, ms)
    if (!ignored) waiting.add(timer)
    return timer
  }
  globalThis.setTimeout = Object.assign(startWatched, start) as unknown as typeof setTimeout
  globalThis.clearTimeout = (timer?: unknown) => {
    waiting.delete(timer)
    clear(timer as number)
  }
  return {
    count: () => waiting.size,
    stop() {
      globalThis.setTimeout = start
      globalThis.clearTimeout = clear
    },
  }
}

/** Counts the listeners that were added to a signal since and not removed. */
export function watchListeners(signal: AbortSignal): Observed {
  const listeners = new Set<unknown>()
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (type: string, listener: never, options?: AddEventListenerOptions) => {
    listeners.add(listener)
    options?.signal?.addEventListener('abort', () => listeners.delete(listener))
    add(type, listener, options)
  }
  signal.removeEventListener = (type: string, listener: never) => {
    listeners.delete(listener)
    remove(type, listener)
  }
  return { count: () => listeners.size, stop() {} }
}
