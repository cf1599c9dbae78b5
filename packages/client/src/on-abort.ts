interface Listener {
  readonly callbacks: Set<() => void>
  readonly notifyAll: () => void
}

const listeners = new WeakMap<AbortSignal, Listener>()

/**
 * Calls back when a signal is aborted, unless the function given back is called before. All
 * callbacks share one listener: Node 20 warns of a leak where a signal has more than ten.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
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
