/** Timers hold 31 bits of milliseconds, and fire at once for more. */
export const MAX_TIMER_MS = 2 ** 31 - 1

/** What a call takes from the machine: its clocks, its timers, its chance. */
export interface Runtime {
  /** Milliseconds by a clock that never goes back. */
  now(): number
  /** Milliseconds since 1970, to compare with an HTTP-date. */
  wallClock(): number
  /** Calls back once after at least that many milliseconds, unless the function given back is called. */
  startTimer(callback: () => void, ms: number): () => void
  /** A number from 0 up to, and without, 1. */
  random(): number
  /** A UUID of version 4 (RFC 9562 §5.4). */
  newRequestId(): string
}

/** The real machine, in Node, Bun, Deno and browsers. */
export const systemRuntime: Runtime = {
  now: () => performance.now(),
  wallClock: () => Date.now(),
  startTimer(callback, ms) {
    // A timer counts from the start of its turn of the event loop, so it may end 1 ms early.
    const timer = setTimeout(callback, Math.min(Math.ceil(ms) + 1, MAX_TIMER_MS))
    return () => clearTimeout(timer)
  },
  random: () => Math.random(),
  newRequestId() {
    // A page that did not come over TLS has none.
    if (crypto.randomUUID !== undefined) return crypto.randomUUID()
    const digits = Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte & 15)
    return 'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replace(
      /x/g,
      () => `${digits.pop()?.toString(16)}`,
    )
  },
}

type Texts = Readonly<Record<string, string | undefined>>

/** What Node, Bun and Deno have, and browsers have not. */
export const host = globalThis as {
  readonly process?: {
    readonly env?: Texts
    readonly versions?: Texts
    getBuiltinModule?(name: string): {
      subscribe(
        channel: string,
        listener: (message: { readonly request: { readonly headers?: readonly string[] } }) => void,
      ): void
    }
  }
}

/** A setting from the environment; undefined where it is not set or there is no environment. */
export function readEnvironment(name: string): string | undefined {
  try {
    return host.process?.env?.[name]
  } catch {
    // Deno throws where the program may not read its environment: the same as not set.
    return undefined
  }
}
