import { headerNames } from '@plant-store/contract'
import { host } from './host.ts'

/** The source of the own fetch of Node, Deno and Bun; what wraps it has another. */
const OWN =
  /internal\/deps\/undici\/|lazyFetch\(\)\.fetch\(|^function fetch\(\) \{\s+\[native code\]/

/** Marks a fetch of our own that notifies as undici does. */
const NOTIFIES = Symbol.for('@plant-store/client.notifies')

/**
 * What undici notifies of: Node's own fetch, and every dispatcher that ends in a connection of it. No
 * error of fetch says how often a request was sent that is refused in the end, nor that a proxy said
 * 407, which it keeps to itself (Fetch Standard, "HTTP-network-or-cache fetch").
 */
const CHANNELS = ['request:create', 'client:sendHeaders', 'request:bodySent', 'request:headers']

/** How often each channel notified of the requests with an id, and in the end the last status. */
const watched = new Map<string, number[]>()

/** Listens to undici from now on; Node before 20.16 has no way to. */
function listen(): void {
  const channels = host.process?.getBuiltinModule?.('node:diagnostics_channel')
  for (const [at, name] of CHANNELS.entries()) {
    channels?.subscribe(`undici:${name}`, ({ request, response }) => {
      const { headers = [] } = request
      const counts = watched.get(String(headers[headers.indexOf(headerNames.requestId) + 1]))
      if (counts !== undefined) counts[at] = response?.statusCode ?? (counts[at] ?? 0) + 1
    })
  }
}

let isListening = false

/** The fetch of the last call, and what came of its source, whose reading costs more than all else here. */
let judged: unknown
let isOwn = false

/** Origins that have answered, where a connection may be kept. */
const answered = new Set<string>()

/** What is known of the requests that one call of fetch sends. */
export interface Sends {
  /** Whether a connection that fails is certainly that of the first request. */
  readonly isOnce: boolean
  /** No more requests than this have been sent; NaN where nobody can know. */
  atMost(): number
  /** The status of the last response, where it is known. */
  status(): number | undefined
  onResponse(): void
  close(): void
}

/**
 * Watches what a call of fetch sends, under an id that its headers hold. Bun sends a request once.
 * Deno, as browsers do, silently sends it again where a kept connection breaks.
 */
export function watchSends(fetch: unknown, requestId: string, origin: string): Sends {
  const { node, bun, deno } = host.process?.versions ?? {}
  const isNode = node !== undefined && bun === undefined && deno === undefined
  if (fetch !== judged) {
    judged = fetch
    isOwn =
      typeof fetch === 'function' &&
      ((isNode && NOTIFIES in fetch) || OWN.test(Function.prototype.toString.call(fetch)))
  }
  const isBun = isOwn && bun !== undefined
  const isOnce = isBun || (isOwn && deno !== undefined && !answered.has(origin))
  const onResponse = () => void answered.add(origin)
  if (!isOwn || !isNode) {
    const atMost = () => (isBun ? 1 : Number.NaN)
    return { isOnce, onResponse, atMost, status: () => undefined, close() {} }
  }
  if (!isListening) listen()
  isListening = true
  // Two calls under one id cannot be told apart, so that neither count can be relied on.
  const counts = watched.get(requestId)?.fill(Number.NaN) ?? [0, 0, 0, 0]
  watched.set(requestId, counts)
  return {
    isOnce,
    onResponse,
    atMost() {
      const [created, heads = 0, bodies = 0] = counts
      // A dispatcher that is not undici's creates nothing, and HTTP/2 of undici 6 notifies of no head.
      return created ? Math.max(heads, bodies) : Number.NaN
    },
    status: () => counts[3] || undefined,
    close() {
      if (watched.get(requestId) === counts) watched.delete(requestId)
    },
  }
}
