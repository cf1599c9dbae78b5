import type { PlantStore } from '../store/store.ts'

export interface WaitingLimits {
  /** Plants that may ever wait for their outcome: as many as there may be requests. */
  readonly requestLimit: number
  /** How long plants may wait, on average, before more are refused. */
  readonly waitLimitMs: number
}

/** A store whose waiting plants are watched. */
export interface WatchedPlants extends PlantStore {
  /** Whether one more plant would wait too long. */
  isOverloaded(): boolean
}

/** Over how long the wait is averaged. */
const SPAN_MS = 100

/** So many may always wait: fewer could not fill the batches of a commit. */
const ALWAYS = 256

/** How fast the limit grows back, for each span in which the wait was short. */
const GROWTH = 1.5

/**
 * Watches how long plants wait between `create` and its outcome, which holds the queue, the commit
 * and the delay of the event loop. By Little's law the average wait is the average number of those
 * that wait divided by the rate at which they are told; so where the wait was too long for two
 * spans, no more may wait than would have been told within the limit.
 */
export function watchWaiting(
  plants: PlantStore,
  { requestLimit, waitLimitMs }: WaitingLimits,
  monotonic: () => number = () => performance.now(),
): WatchedPlants {
  let limit = requestLimit
  let waiting = 0
  let told = 0
  // The sum of the waits: what `waiting` was, times how long it was so.
  let waitedMs = 0
  let changedAt = monotonic()
  let spanStart = changedAt
  let longSpans = 0

  function advance(now: number): void {
    waitedMs += waiting * (now - changedAt)
    changedAt = now
  }

  function endSpan(now: number): void {
    const elapsedMs = now - spanStart
    // Nothing was told in all this time: a commit stalls, and how long the others wait is not known.
    if (elapsedMs < SPAN_MS || (told === 0 && waiting > 0)) return
    advance(now)
    const isLong = waitedMs > told * waitLimitMs
    longSpans = isLong ? longSpans + 1 : 0
    if (!isLong) limit = Math.min(requestLimit, limit * GROWTH ** (elapsedMs / SPAN_MS))
    else if (longSpans > 1) {
      limit = Math.min(requestLimit, Math.max(ALWAYS, (told * waitLimitMs) / elapsedMs))
    }
    told = 0
    waitedMs = 0
    spanStart = now
  }

  function tell(): void {
    advance(monotonic())
    waiting--
    told++
  }

  return {
    isOverloaded() {
      endSpan(monotonic())
      return waiting >= limit
    },
    create(plant) {
      advance(monotonic())
      waiting++
      const outcome = plants.create(plant)
      outcome.then(tell, tell)
      return outcome
    },
  }
}
