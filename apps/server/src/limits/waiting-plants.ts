import { performance } from 'node:perf_hooks'
import type { NewPlant } from '@plant-store/contract'
import type { CommitTiming } from '../store/observer.ts'
import type { CreateOutcome, PlantStore } from '../store/store.ts'

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

/** Over how long the wait is averaged. */
const SPAN_MS = 100

/** So many may always wait: they are soon served, and fewer could not fill a commit. */
const ALWAYS = 256

/** How fast the limit grows back, for each span in which the wait was short. */
const GROWTH = 1.5

/** A turn of the event loop in which requests were read. */
interface Turn {
  readonly startedAt: number
  /** That waited at its start, or were let in since. */
  plants: number
}

/** The event loop of this thread. */
function createLoopClock(): LoopClock {
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
export class WaitingPlants implements PlantStore {
  readonly #plants: PlantStore
  readonly #limits: WaitingLimits
  readonly #clock: LoopClock
  #limit: number
  #waiting = 0
  #told = 0
  /** The sum of the waits: what `#waiting` was, times how long it was so. */
  #waitedMs = 0
  #changedAt: number
  #spanStart: number
  #longSpans = 0
  #turn: Turn | undefined

  constructor(plants: PlantStore, limits: WaitingLimits, clock: LoopClock = createLoopClock()) {
    this.#plants = plants
    this.#limits = limits
    this.#clock = clock
    this.#limit = limits.requestLimit
    this.#changedAt = clock.now()
    this.#spanStart = this.#changedAt
  }

  /** Whether one more plant would wait too long. */
  isOverloaded(): boolean {
    const now = this.#clock.now()
    this.#endSpan(now)
    if (this.#turn === undefined) {
      this.#turn = { startedAt: now, plants: this.#waiting }
      setImmediate(this.#endTurn)
    }
    if (this.#waiting >= this.#limit) return true
    // What is still unread after so long a turn has waited long enough already.
    return this.#turn.plants >= ALWAYS && now - this.#turn.startedAt > this.#limits.waitLimitMs
  }

  create(plant: NewPlant, timing?: CommitTiming): Promise<CreateOutcome> {
    this.#advance(this.#clock.now())
    this.#waiting++
    if (this.#turn !== undefined) this.#turn.plants++
    const outcome = this.#plants.create(plant, timing)
    outcome.then(this.#tell, this.#tell)
    return outcome
  }

  readonly #tell = (): void => {
    this.#advance(this.#clock.now())
    this.#waiting--
    this.#told++
  }

  readonly #endTurn = (): void => {
    this.#turn = undefined
  }

  #advance(now: number): void {
    this.#waitedMs += this.#waiting * (now - this.#changedAt)
    this.#changedAt = now
  }

  #endSpan(now: number): void {
    const elapsedMs = now - this.#spanStart
    // Nothing was told in all this time: a commit stalls, and how long the others wait is not known.
    if (elapsedMs < SPAN_MS || (this.#told === 0 && this.#waiting > 0)) return
    this.#advance(now)
    this.#limit = this.#nextLimit(elapsedMs)
    this.#told = 0
    this.#waitedMs = 0
    this.#spanStart = now
  }

  #nextLimit(elapsedMs: number): number {
    const { requestLimit, waitLimitMs } = this.#limits
    const allowedMs = waitLimitMs - this.#clock.averageTurnMs()
    const isLong = this.#waitedMs > this.#told * allowedMs
    this.#longSpans = isLong ? this.#longSpans + 1 : 0
    if (!isLong) return Math.min(requestLimit, this.#limit * GROWTH ** (elapsedMs / SPAN_MS))
    if (this.#longSpans === 1) return this.#limit
    return Math.min(requestLimit, Math.max(ALWAYS, (this.#told * allowedMs) / elapsedMs))
  }
}
