/** So many deaths within the span are no accident. */
const MOST = 5
const SPAN_MS = 60_000

/** Counts the loops that die. */
export class Deaths {
  #times: number[] = []

  /** @throws Error, with the cause of this one, when it is the fifth within a minute. */
  add(cause: unknown): void {
    const now = performance.now()
    this.#times = [...this.#times.filter((time) => time > now - SPAN_MS), now]
    if (this.#times.length < MOST) return
    throw new Error(`${MOST} event loops have died within ${SPAN_MS / 1_000} s`, { cause })
  }
}
