import type { Logger } from 'pino'

/** A request that the server could not serve, as one line of the log. */
export interface Failure {
  readonly level: 'warn' | 'error'
  /** Its fields. `err`, the cause, decides with `error`, its name, what is the same reason. */
  readonly line: { readonly error: string; readonly err: unknown }
  readonly message: string
}

/** Failures of one reason since its last line. */
interface Held {
  count: number
  latest: Failure | undefined
}

/** For each reason there is at most one line in this time. */
const SPAN_MS = 1_000

/** Reasons that are told apart at a time; the others share one. */
const MOST_REASONS = 64

/** The messages and codes of an error and its causes; numbers in them, such as ids, do not count. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { name, message, cause } = error
  const { code } = error as NodeJS.ErrnoException
  const own = `${name} ${code} ${message.replaceAll(/\d+/g, '#')}`
  return cause === undefined ? own : `${own}\n${reasonOf(cause)}`
}

/**
 * Logs failures with their cause. Where they come in floods, each reason has one line a second: the
 * latest failure, and as `leftOut` how many others have no line. At `debug` each has its line.
 */
export class FailureLog {
  readonly #log: Logger
  readonly #onFailure: () => void
  readonly #held = new Map<string, Held>()

  constructor(log: Logger, onFailure = () => {}) {
    this.#log = log
    this.#onFailure = onFailure
  }

  write(failure: Failure): void {
    this.#onFailure()
    if (this.#log.isLevelEnabled('debug')) {
      this.#print(failure)
      return
    }
    const key = this.#keyOf(failure)
    const held = this.#held.get(key)
    if (held === undefined) {
      this.#print(failure)
      this.#hold(key)
    } else {
      held.count++
      held.latest = failure
    }
  }

  /** Logs at once what waits for its line. */
  flush(): void {
    for (const held of this.#held.values()) this.#release(held)
  }

  #keyOf({ line: { error, err } }: Failure): string {
    const key = `${error}\n${reasonOf(err)}`
    return this.#held.has(key) || this.#held.size < MOST_REASONS ? key : 'others'
  }

  #hold(key: string): void {
    const held: Held = { count: 0, latest: undefined }
    this.#held.set(key, held)
    const end = () => {
      if (this.#release(held)) setTimeout(end, SPAN_MS).unref()
      else this.#held.delete(key)
    }
    setTimeout(end, SPAN_MS).unref()
  }

  /** Whether there was something to log. */
  #release(held: Held): boolean {
    const { latest, count } = held
    if (latest === undefined) return false
    this.#print(latest, count - 1)
    held.latest = undefined
    held.count = 0
    return true
  }

  #print({ level, line, message }: Failure, leftOut = 0): void {
    this.#log[level](leftOut === 0 ? line : { ...line, leftOut }, message)
  }
}
