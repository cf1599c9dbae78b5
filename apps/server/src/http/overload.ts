import { performance } from 'node:perf_hooks'
import type { NewPlant } from '@plant-store/contract'
import type { Request } from 'express'
import type { CommitTiming } from '../store/observer.ts'
import type { CreateOutcome, PlantStore } from '../store/store.ts'
import type { Limit } from './admission.ts'
import { RequestError } from './request-error.ts'

/** A clock that also knows how long the turns of the event loop take. */
export interface LoopClock {
  /** ms since some moment; never jumps. */
  now(): number
  /** The average length of the turns of the event loop since the last call, idle time not counted. */
  averageTurnMs(): number
}

/** How long plants may wait, on average, before more are refused. */
export const WAIT_LIMIT_MS = 100

/** The time over which the wait is averaged. */
const SPAN_MS = 100

/** How many may always wait: they are soon served, and fewer could not fill a commit. */
export const ALWAYS_WAITING = 256

/** The growth of the limit for each span in which the wait was short. */
const GROWTH = 1.5

/** A turn of the event loop in which requests were read. */
interface Turn {
  readonly startedAt: number
  /** Plants that waited at its start, or were admitted since. */
  plants: number
}

/** The event loop of the server. */
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
 * Measures how long plants wait. Before `create` that is one turn of the event loop, in which the
 * request was not read yet. From `create` to its outcome it is, by Little's law, the average number
 * of waiting plants divided by the rate of their outcomes. If the sum was too long for two spans, no
 * more may wait than had an outcome within the limit.
 */
export class WaitingPlants implements PlantStore {
  readonly #plants: PlantStore
  /** The most plants that may wait: as many as there may be requests. */
  readonly #requestLimit: number
  readonly #clock: LoopClock
  #limit: number
  #waiting = 0
  #outcomes = 0
  /** The sum of all waits: `#waiting` integrated over time. */
  #waitedMs = 0
  #changedAt: number
  #spanStart: number
  #longSpans = 0
  #turn: Turn | undefined

  constructor(plants: PlantStore, requestLimit: number, clock: LoopClock = createLoopClock()) {
    this.#plants = plants
    this.#requestLimit = requestLimit
    this.#clock = clock
    this.#limit = requestLimit
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
    // After such a long turn, what is still unread has waited too long already.
    return this.#turn.plants >= ALWAYS_WAITING && now - this.#turn.startedAt > WAIT_LIMIT_MS
  }

  create(plant: NewPlant, timing?: CommitTiming): Promise<CreateOutcome> {
    this.#advance(this.#clock.now())
    this.#waiting++
    if (this.#turn !== undefined) this.#turn.plants++
    const outcome = this.#plants.create(plant, timing)
    outcome.then(this.#noteOutcome, this.#noteOutcome)
    return outcome
  }

  readonly #noteOutcome = (): void => {
    this.#advance(this.#clock.now())
    this.#waiting--
    this.#outcomes++
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
    // No outcome in all this time: a commit stalls, so nobody knows how long the others will wait.
    if (elapsedMs < SPAN_MS || (this.#outcomes === 0 && this.#waiting > 0)) return
    this.#advance(now)
    this.#limit = this.#nextLimit(elapsedMs)
    this.#outcomes = 0
    this.#waitedMs = 0
    this.#spanStart = now
  }

  #nextLimit(elapsedMs: number): number {
    const requestLimit = this.#requestLimit
    const allowedMs = WAIT_LIMIT_MS - this.#clock.averageTurnMs()
    const isLong = this.#waitedMs > this.#outcomes * allowedMs
    this.#longSpans = isLong ? this.#longSpans + 1 : 0
    if (!isLong) return Math.min(requestLimit, this.#limit * GROWTH ** (elapsedMs / SPAN_MS))
    if (this.#longSpans === 1) return this.#limit
    return Math.min(
      requestLimit,
      Math.max(ALWAYS_WAITING, (this.#outcomes * allowedMs) / elapsedMs),
    )
  }
}

const unavailable = new RequestError(
  'unavailable',
  'nothing was stored, try again: the server has more requests than it can answer in time',
)

/** Refuses requests with 503 while plants wait too long for their commit. */
export function limitOverload(plants: WaitingPlants): Limit {
  const refusal = { reason: 'overload', error: unavailable } as const
  return () => (plants.isOverloaded() ? refusal : undefined)
}

/** Requests for public content that may be in flight, whatever the limit of the others is. */
const PUBLIC_LIMIT = 64

/**
 * Refuses requests with 503 while `requestLimit` others are in flight, each until its response has
 * left or its caller is gone; public ones have places of their own.
 */
export function limitInFlight(
  requestLimit: number,
  isPublic: (request: Request) => boolean,
): Limit {
  const refusal = { reason: 'requests_in_flight', error: unavailable } as const
  function createPlaces(most: number): Limit {
    let taken = 0
    const leave = () => void taken--
    return (_request, response) => {
      if (taken >= most) return refusal
      taken++
      response.on('close', leave)
      return undefined
    }
  }
  const publicPlaces = createPlaces(PUBLIC_LIMIT)
  const places = createPlaces(requestLimit)
  return (request, response) => (isPublic(request) ? publicPlaces : places)(request, response)
}
