import { headerNames } from '@plant-store/contract'
import { host, runtime } from './host.ts'

/** The source of the own fetch of Node, Deno and Bun; what wraps it has another. */
const OWN =
  /internal\/deps\/undici\/|lazyFetch\(\)\.fetch\(|^function fetch\(\) \{\s+\[native code\]/

/** Marks a fetch of our own that notifies as undici does. */
const NOTIFIES = Symbol.for('@plant-store/client.notifies')

/**
 * What undici notifies of, for Node's own fetch and every dispatcher of it. No error of fetch says how
 * often it has sent, nor that a proxy said 407 (Fetch Standard, "HTTP-network-or-cache fetch").
 */
const CHANNELS = ['request:create', 'client:sendHeaders', 'request:bodySent', 'request:headers']

/** How often each channel notified of the requests with an id, and in the end the last status. */
const watched = new Map<string, number[]>()
let isListening = false

/** Listens to undici from now on; Node before 20.16 has no way to. */
function listen(): void {
  isListening = true
  const channels = host.process?.getBuiltinModule?.('node:diagnostics_channel')
  for (const [at, name] of CHANNELS.entries()) {
    channels?.subscribe(`undici:${name}`, ({ request, response }) => {
      const { headers = [] } = request
      const counts = watched.get(String(headers[headers.indexOf(headerNames.requestId) + 1]))
      if (counts !== undefined) counts[at] = response?.statusCode ?? (counts[at] ?? 0) + 1
    })
  }
}

/** Origins that have answered, where a connection may be kept. */
const answered = new Set<string>()

/** What is known of the requests that one call of fetch sends. */
export type Sends = ReturnType<typeof watchSends>

/**
 * Watches what a call of fetch sends, under an id that its headers hold. Bun sends a request once.
 * Deno, as browsers do, silently sends it again where a kept connection breaks.
 */
export function watchSends(fetch: object, requestId: string, origin: string) {
  const isNode = runtime === 'node'
  const source = Function.prototype.toString.call(fetch)
  const isOwn = OWN.test(source) || (isNode && NOTIFIES in fetch)
  const isBun = isOwn && runtime === 'bun'
  // Two calls under one id cannot be told apart, so that neither count can be relied on.
  const counts = watched.get(requestId)?.fill(Number.NaN) ?? [0, 0, 0, 0]
  if (isOwn && isNode) {
    if (!isListening) listen()
    watched.set(requestId, counts)
  }
  return {
    /** Whether a connection that fails is certainly that of the first request. */
    isOnce: isBun || (isOwn && runtime === 'deno' && !answered.has(origin)),
    onResponse: () => answered.add(origin),
    /** No more requests than this have been sent; NaN where nobody can know. */
    atMost() {
      const [created, heads = 0, bodies = 0] = counts
      if (isBun) return 1
      // A dispatcher that is not undici's creates nothing, and HTTP/2 of undici 6 notifies of no head.
      return created ? Math.max(heads, bodies) : Number.NaN
    },
    /** The status of the last response, where it is known. */
    status: () => counts[3] || undefined,
    close: () => watched.get(requestId) === counts && watched.delete(requestId),
  }
}
