import { headerNames } from '@plant-store/contract'
import { runtimeVersions } from './environment.ts'

/** What is known of the requests that one call of fetch sends. */
export interface Sends {
  /** It has sent no more than this; Infinity where nobody can know. */
  readonly atMost: number
  /** Whether fetch is the runtime's own, neither replaced nor wrapped. */
  readonly isOwn: boolean
  /** Whether the failure that fetch reports is that of its only request. */
  readonly isFirst: boolean
  /** The status of a reply, also of one that fetch keeps to itself. */
  readonly status?: number
  close(): void
}

/**
 * The source of the runtime's own fetch: Node's, Deno's, and Bun's. What wraps it has another, even
 * where it was put in its place before this module was loaded.
 */
const OWN =
  /internal\/deps\/undici\/|lazyFetch\(\)\.fetch\(|^function fetch\(\) \{\s+\[native code\]/

function isOwnFetch(fetch: unknown): boolean {
  return typeof fetch === 'function' && OWN.test(Function.prototype.toString.call(fetch))
}

/** The requests of a call, as undici reports them: those of Node's own fetch and of any dispatcher. */
class Watch implements Sends {
  readonly isOwn = true
  readonly isFirst = false
  readonly #requestId: string
  status?: number
  created = 0
  heads = 0
  bodies = 0
  isShared = false

  constructor(requestId: string) {
    this.#requestId = requestId
  }

  get atMost(): number {
    // A dispatcher that is not undici's reports nothing, and HTTP/2 of undici 6 reports no head.
    const isReported = this.created > 0 && !this.isShared
    return isReported ? Math.max(this.heads, this.bodies) : Number.POSITIVE_INFINITY
  }

  close(): void {
    if (watches.get(this.#requestId) === this) watches.delete(this.#requestId)
  }
}

const watches = new Map<string, Watch>()

/** What undici says on its channels. */
interface Message {
  readonly request?: { readonly headers?: readonly string[] }
  readonly response?: { readonly statusCode: number }
}

const CHANNELS: Readonly<Record<string, (watch: Watch, message: Message) => void>> = {
  'undici:request:create': (watch) => watch.created++,
  'undici:client:sendHeaders': (watch) => watch.heads++,
  'undici:request:bodySent': (watch) => watch.bodies++,
  'undici:request:headers': (watch, { response }) => {
    if (response !== undefined) watch.status = response.statusCode
  },
}

interface Host {
  readonly process?: {
    getBuiltinModule?(name: string): {
      subscribe(channel: string, listener: (message: Message) => void): void
    }
  }
}

let isListening = false

/** Listens to undici from now on; Node before 20.16 has no way to. */
function listen(): void {
  if (isListening) return
  isListening = true
  const channels = (globalThis as Host).process?.getBuiltinModule?.('node:diagnostics_channel')
  for (const [name, report] of Object.entries(CHANNELS)) {
    channels?.subscribe(name, (message) => {
      const headers = message.request?.headers ?? []
      const watch = watches.get(String(headers[headers.indexOf(headerNames.requestId) + 1]))
      if (watch !== undefined) report(watch, message)
    })
  }
}

/** Two calls under one id are counted as one, so that neither count can be relied on. */
function watchUndici(requestId: string): Watch {
  listen()
  const other = watches.get(requestId)
  const watch = other ?? new Watch(requestId)
  watch.isShared = other !== undefined
  watches.set(requestId, watch)
  return watch
}

let hasReplied = false

/** To be called for each reply: from then on a connection may be kept. */
export function noteReply(): void {
  hasReplied = true
}

/**
 * Watches what a call of fetch sends, under an id that its headers hold. Bun sends a request once.
 * Deno, as browsers do, silently sends it again where a kept connection breaks.
 */
export function watchSends(fetch: unknown, requestId: string): Sends {
  const isOwn = isOwnFetch(fetch)
  const { node, bun, deno } = runtimeVersions()
  if (isOwn && node && !bun && !deno) return watchUndici(requestId)
  const isOnce = isOwn && bun !== undefined
  return {
    atMost: isOnce ? 1 : Number.POSITIVE_INFINITY,
    isOwn,
    isFirst: isOnce || (isOwn && deno !== undefined && !hasReplied),
    close() {},
  }
}
