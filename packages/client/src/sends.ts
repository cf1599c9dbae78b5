import { headerNames } from '@plant-store/contract'
import { runtimeVersions } from './runtime.ts'

/** What is known of the requests that one call of fetch sends. */
export interface Sends {
  /** Whether fetch is the runtime's own, neither replaced nor wrapped. */
  readonly isOwn: boolean
  /** Whether a failure that fetch reports is that of its first request. */
  readonly isFirst: boolean
  /** No more requests than this have been sent; NaN where nobody can know. */
  atMost(): number
  close(): void
}

/**
 * The source of the runtime's own fetch: Node's, Deno's, and Bun's. What wraps it has another, even
 * where it was put in its place before this module was loaded.
 */
const OWN =
  /internal\/deps\/undici\/|lazyFetch\(\)\.fetch\(|^function fetch\(\) \{\s+\[native code\]/

/**
 * What undici notifies of: Node's own fetch, and every dispatcher that ends in a connection of it. No
 * error of fetch says how often a request was sent that is refused in the end.
 */
const CHANNELS = ['request:create', 'client:sendHeaders', 'request:bodySent']

/** How often each channel notified of the requests with an id. */
const watched = new Map<string, number[]>()

interface Host {
  readonly process?: {
    getBuiltinModule?(name: string): {
      subscribe(
        channel: string,
        listener: (message: { readonly request: { readonly headers?: readonly string[] } }) => void,
      ): void
    }
  }
}

/** Listens to undici from now on; Node before 20.16 has no way to. */
function listen(): void {
  const channels = (globalThis as Host).process?.getBuiltinModule?.('node:diagnostics_channel')
  for (const [at, name] of CHANNELS.entries()) {
    channels?.subscribe(`undici:${name}`, ({ request: { headers = [] } }) => {
      const counts = watched.get(String(headers[headers.indexOf(headerNames.requestId) + 1]))
      if (counts !== undefined) counts[at] = (counts[at] ?? 0) + 1
    })
  }
}

let isListening = false

function watchUndici(requestId: string): Sends {
  if (!isListening) listen()
  isListening = true
  // Two calls under one id cannot be told apart, so that neither count can be relied on.
  const counts = watched.get(requestId)?.fill(Number.NaN) ?? [0, 0, 0]
  watched.set(requestId, counts)
  return {
    isOwn: true,
    isFirst: false,
    atMost() {
      const [created, heads = 0, bodies = 0] = counts
      // A dispatcher that is not undici's creates nothing, and HTTP/2 of undici 6 notifies of no head.
      return created ? Math.max(heads, bodies) : Number.NaN
    },
    close() {
      if (watched.get(requestId) === counts) watched.delete(requestId)
    },
  }
}

/** Where a connection may be kept. */
const answered = new Set<string>()

/** To be called for each response of an origin. */
export function noteResponse(origin: string): void {
  answered.add(origin)
}

/** The fetch of the last call, and what came of its source, whose reading costs more than all else here. */
let judged: unknown
let isOwn = false

/**
 * Watches what a call of fetch sends, under an id that its headers hold. Bun sends a request once.
 * Deno, as browsers do, silently sends it again where a kept connection breaks.
 */
export function watchSends(fetch: unknown, requestId: string, origin: string): Sends {
  if (fetch !== judged) {
    judged = fetch
    isOwn = typeof fetch === 'function' && OWN.test(Function.prototype.toString.call(fetch))
  }
  const { node, bun, deno } = runtimeVersions()
  if (isOwn && node && !bun && !deno) return watchUndici(requestId)
  return {
    isOwn,
    isFirst: isOwn && Boolean(bun || (deno && !answered.has(origin))),
    atMost: () => (isOwn && bun ? 1 : Number.NaN),
    close() {},
  }
}
