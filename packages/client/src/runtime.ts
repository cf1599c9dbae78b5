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

/** Version 4, variant 8, and a random digit for each x. */
const UUID = 'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'

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
    const bytes = crypto.getRandomValues(new Uint8Array(UUID.length))
    return UUID.replace(/x/g, (_, at: number) => (Number(bytes[at]) & 15).toString(16))
  },
}

interface Host {
  readonly process?: {
    readonly env?: Readonly<Record<string, string | undefined>>
    readonly versions?: Readonly<Record<string, string | undefined>>
  }
}

/** The versions of the runtime and its parts, by name; none in browsers. */
export function runtimeVersions(): Readonly<Record<string, string | undefined>> {
  return (globalThis as Host).process?.versions ?? {}
}

/** A setting from the environment; undefined where it is not set or there is no environment. */
export function readEnvironment(
  name: 'PLANT_STORE_BASE_URL' | 'PLANT_STORE_TOKEN',
): string | undefined {
  try {
    return (globalThis as Host).process?.env?.[name]
  } catch {
    // Deno throws where the program may not read its environment: the same as not set.
    return undefined
  }
}
