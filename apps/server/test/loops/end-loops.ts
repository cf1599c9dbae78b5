import { IncomingMessage } from 'node:http'
import { isMainThread } from 'node:worker_threads'

// Imported by the server of a test, in each of its threads, before anything else: the loop that gets a
// request with the header `x-end-loop` does to itself what the header says.

const HEADER = 'x-end-loop'

const WAYS: Readonly<Record<string, () => void>> = {
  exception() {
    throw new Error('injected: an exception')
  },
  memory() {
    const kept: string[][] = []
    for (;;) kept.push(Array.from({ length: 1_000 }, (_, index) => `${kept.length} ${index}`))
  },
  exit() {
    process.exit(3)
  },
  /** Does nothing else for four seconds, which no other request can shorten. */
  hang() {
    for (const until = performance.now() + 4_000; performance.now() < until; );
  },
}

const addHeader: unknown = Reflect.get(IncomingMessage.prototype, '_addHeaderLine')
if (!isMainThread && typeof addHeader === 'function') {
  Object.assign(IncomingMessage.prototype, {
    _addHeaderLine(this: IncomingMessage, name: string, value: string, ...more: unknown[]) {
      // Not while the request is handled, where the server contains what is thrown.
      if (name.toLowerCase() === HEADER) setImmediate(() => WAYS[value]?.())
      return Reflect.apply(addHeader, this, [name, value, ...more])
    },
  })
}
