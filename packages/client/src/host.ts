/** Timers hold 31 bits of milliseconds, and fire at once for more. */
export const MAX_TIMER_MS = 2 ** 31 - 1

/** Calls back once after at least that many milliseconds, unless the function given back is called. */
export function startTimer(callback: () => void, ms: number): () => void {
  // A timer counts from the start of its turn of the event loop, so it may end 1 ms early.
  const timer = setTimeout(callback, Math.min(Math.ceil(ms) + 1, MAX_TIMER_MS))
  return () => clearTimeout(timer)
}

/** A UUID of version 4 (RFC 9562 §5.4). */
export function createRequestId(): string {
  // A page that did not come over TLS has none.
  if (crypto.randomUUID !== undefined) return crypto.randomUUID()
  const digits = Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte & 15)
  return 'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replace(/x/g, () => `${digits.pop()?.toString(16)}`)
}

type Texts = Readonly<Record<string, string | undefined>>
type Notified = { request: { headers?: readonly string[] }; response?: { statusCode: number } }

/** What Node, Bun and Deno have, and browsers have not. */
export const host = globalThis as {
  readonly process?: {
    readonly env?: Texts
    readonly versions?: Texts
    getBuiltinModule?(name: string): {
      subscribe(channel: string, listener: (message: Notified) => void): void
    }
  }
}

/** The runtime by its name; undefined in browsers. The others give themselves out for Node, too. */
export const runtime = ['bun', 'deno', 'node'].find((name) => host.process?.versions?.[name])

/** A setting from the environment; undefined where it is not set or there is no environment. */
export function readEnvironment(name: string): string | undefined {
  try {
    return host.process?.env?.[name]
  } catch {
    // Deno throws where the program may not read its environment: the same as not set.
    return undefined
  }
}
