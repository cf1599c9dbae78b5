import { performance } from 'node:perf_hooks'
import type { PlantStore } from '../store/store.ts'

export interface WaitingLimits {
  /** Plants that may ever wait for their outcome: as many as there may be requests. */
  readonly requestLimit: number
  /** How long plants may wait, on average, before more are refused. */
  readonly waitLimitMs: number
}

/** Where a watch reads the time, and the time that the event loop takes. */
export interface LoopClock {
  /** ms since some moment, which never jumps. */
  now(): number
  /** How long the turns of the event loop took on average since the last call, waiting left out. */
  averageTurnMs(): number
}

/** A store whose waiting plants are watched. */
export interface WatchedPlants extends PlantStore {
  /** Whether one more plant would wait too long. */
  isOverloaded(): boolean
}

/** Over how long the wait is averaged. */
const SPAN_MS = 100

/** So many may always wait: they are soon served, and fewer could not fill a commit. */
const ALWAYS = 256

/** How fast the limit grows back, for each span in which the wait was short. */
const GROWTH = 1.5

/** The event loop of this thread. */
export function createLoopClock(): LoopClock {
  let active = performance.eventLoopUtilization().active
  let turns = performance.nodeTiming.uvMetricsInfo.loopCount
  return {
    now: () => performance.now(),
    averageTurnMs() {
      const before = { active, turns }
      active = performance.eventLoopUtilization().active
      turns = performance.nodeTiming.uvMetricsInfo.loopCount
      return (active - before.active) / Math.max(1, turns - before.turns)
    },
  }
}

/**
 * Watches how long plants wait. Before `create` that is a turn of the event loop, in which the
 * request lay unread. From `create` to its outcome it is, by Little's law, the average number of
 * those that wait divided by the rate at which they are told. Where both together were too long
 * for two spans, no more may wait than would have been told within the limit.
 */
export function watchWaiting(
  plants: PlantStore,
  { requestLimit, waitLimitMs }: WaitingLimits,
  clock: LoopClock = createLoopClock(),
): WatchedPlants {
  let limit = requestLimit
  let waiting = 0
  let told = 0
  // The sum of the waits: what `waiting` was, times how long it was so.
  let waitedMs = 0
  let changedAt = clock.now()
  let spanStart = changedAt
  let longSpans = 0
  let turnStart: number | undefined

  function advance(now: number): void {
    waitedMs += waiting * (now - changedAt)
    changedAt = now
  }

  function endSpan(now: number): void {
    const elapsedMs = now - spanStart
    // Nothing was told in all this time: a commit stalls, and how long the others wait is not known.
    if (elapsedMs < SPAN_MS || (told === 0 && waiting > 0)) return
    advance(now)
    const allowedMs = waitLimitMs - clock.averageTurnMs()
    const isLong = waitedMs > told * allowedMs
    longSpans = isLong ? longSpans + 1 : 0
    if (!isLong) limit = Math.min(requestLimit, limit * GROWTH ** (elapsedMs / SPAN_MS))
    else if (longSpans > 1) {
      limit = Math.min(requestLimit, Math.max(ALWAYS, (told * allowedMs) / elapsedMs))
    }
    told = 0
    waitedMs = 0
    spanStart = now
  }

  function endTurn(): void {
    turnStart = undefined
  }

  function tell(): void {
    advance(clock.now())
    waiting--
    told++
  }

  return {
    isOverloaded() {
      const now = clock.now()
      endSpan(now)
      if (turnStart === undefined) {
        turnStart = now
        setImmediate(endTurn)
      }
      // What is still unread after so long a turn has waited long enough already.
      return waiting >= limit || (waiting >= ALWAYS && now - turnStart > waitLimitMs)
    },
    create(plant, timing) {
      advance(clock.now())
      waiting++
      const outcome = plants.create(plant, timing)
      outcome.then(tell, tell)
      return outcome
    },
  }
}
