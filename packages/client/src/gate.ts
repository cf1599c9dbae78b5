import { PlantStoreConnectionError } from './errors/connection-error.ts'
import { hasStatus, type PlantStoreError, retryAfterOf } from './errors/plant-store-error.ts'
import type { CreatePlantsState } from './progress.ts'
import { backoffMs, withJitter } from './retry.ts'
import type { Runtime } from './runtime.ts'

/** The waits between probes double at most so often: 250 ms become 4 s. */
const MAX_DOUBLINGS = 4

/** A call that is the only one to fail so often fails for what it holds. */
const MAX_LONE_FAILURES = 3

/** The calls are held: since when, how long, and what is known of the server. */
interface Hold {
  readonly since: number
  until: number
  cause: PlantStoreError
  failedProbes: number
  /** The call that goes ahead. */
  probe: object | undefined
  /** The calls that have failed in it. */
  readonly failed: Set<object>
}

function beginHold(now: number, cause: PlantStoreError): Hold {
  return { since: now, until: now, cause, failedProbes: 0, probe: undefined, failed: new Set() }
}

/** A call that waits, and how it goes on. */
type Waiter = readonly [call: object, goOn: (isAdmitted: boolean) => void]

/**
 * Where the calls of a bulk wait while the server is gone or asks to wait. One of them goes ahead, the
 * probe, and all the others follow once that has a reply. They take turns at it, the first that
 * failed first, because a request may also fail for what it holds.
 */
export class Gate {
  readonly #runtime: Runtime
  readonly #maxOutageMs: number
  readonly #onChange: () => void
  readonly #loneFailures = new Map<object, number>()
  #waiters: Waiter[] = []
  #hold: Hold | undefined
  #stopTimer: (() => void) | undefined
  #failure: PlantStoreError | undefined
  #isClosed = false

  /** @param maxOutageMs after so long there is no more waiting; 0 where calls wait for no outage */
  constructor(runtime: Runtime, maxOutageMs: number, onChange: () => void) {
    this.#runtime = runtime
    this.#maxOutageMs = maxOutageMs
    this.#onChange = onChange
  }

  /** Why the last probe failed, once an outage has lasted too long. */
  get failure(): PlantStoreError | undefined {
    return this.#failure
  }

  /** What the calls do now, or did when the outage had lasted too long. */
  get state(): CreatePlantsState {
    const hold = this.#hold
    if (hold === undefined) return { type: 'running' }
    const { cause } = hold
    if (hasStatus(cause, 429) || retryAfterOf(cause)) return { type: 'waiting', ms: this.waitMs }
    const remainingMs = Math.max(0, hold.since + this.#maxOutageMs - this.#runtime.now())
    return { type: 'outage', remainingMs, cause }
  }

  /** How long at least nothing is sent, in milliseconds. */
  get waitMs(): number {
    return Math.max(0, (this.#hold?.until ?? 0) - this.#runtime.now())
  }

  /** Whether this call must not send before it has entered. */
  holds(call: object): boolean {
    return this.#failure !== undefined || (this.#hold !== undefined && this.#hold.probe !== call)
  }

  /** Resolves once the call may send; to false where it never may. */
  enter(call: object): Promise<boolean> {
    return new Promise((goOn) => {
      if (this.#failure !== undefined) goOn(false)
      else if (!this.holds(call)) goOn(true)
      else {
        this.#waiters.push([call, goOn])
        this.#proceed()
      }
    })
  }

  /** The call is over. */
  leave(call: object): void {
    this.#loneFailures.delete(call)
    if (this.#hold === undefined) return
    this.#waiters = this.#waiters.filter(([waiting]) => waiting !== call)
    this.#replaceProbe(call)
  }

  /** The server has replied to the call. */
  onReply(call: object): void {
    const hold = this.#hold
    if (hold?.probe !== call || this.#failure !== undefined) return
    const [lone = call] = hold.failed
    if (hold.failed.size === 1 && lone !== call) {
      this.#loneFailures.set(lone, (this.#loneFailures.get(lone) ?? 0) + 1)
    }
    this.#lift()
  }

  /** A request has failed because of the server; true where its call is to enter and to send again. */
  onFailure(call: object, error: PlantStoreError): boolean {
    if (this.#failure !== undefined) return false
    if ((this.#loneFailures.get(call) ?? 0) >= MAX_LONE_FAILURES) {
      this.#replaceProbe(call)
      return false
    }
    const now = this.#runtime.now()
    this.#hold ??= beginHold(now, error)
    const hold = this.#hold
    const isProbe = hold.probe === call
    const delayMs = this.#delayOf(error, hold, isProbe)
    hold.cause = error
    hold.failed.add(call)
    if (isProbe) {
      hold.probe = undefined
      hold.failedProbes++
    }
    hold.until = Math.max(hold.until, now + delayMs)
    if (this.#maxOutageMs > 0) this.#limit(hold, error, isProbe)
    this.#proceed()
    this.#onChange()
    return this.#maxOutageMs > 0 && this.#failure === undefined
  }

  /** Lets nothing be sent any more. */
  end(error: PlantStoreError): void {
    this.#stopTimer?.()
    this.#failure ??= error
    this.#admitAll(false)
  }

  /** Lets go of the timer, and starts no other. */
  close(): void {
    this.#isClosed = true
    this.#stopTimer?.()
  }

  /** The wait that the server asks for, or one of our own. */
  #delayOf(error: PlantStoreError, { failed, failedProbes }: Hold, isProbe: boolean): number {
    const random = this.#runtime.random()
    const retryAfterMs = retryAfterOf(error)
    if (retryAfterMs) return withJitter(retryAfterMs, random)
    // A connection may break without a cause that lasts: the first probe finds out at once.
    const isAtOnce = !isProbe && (failed.size > 0 || error instanceof PlantStoreConnectionError)
    return isAtOnce ? 0 : backoffMs(Math.min(failedProbes, MAX_DOUBLINGS), random)
  }

  /** Ends an outage that has lasted, or would last, too long. The last probe goes at its very end. */
  #limit(hold: Hold, error: PlantStoreError, isProbe: boolean): void {
    const endsAt = hold.since + this.#maxOutageMs
    const now = this.#runtime.now()
    const isTooLong = now + (retryAfterOf(error) ?? 0) > endsAt
    if (isTooLong || (isProbe && now >= endsAt)) this.end(error)
    hold.until = Math.min(hold.until, endsAt)
  }

  /** Lets another call go ahead, if it was this one. */
  #replaceProbe(call: object): void {
    if (this.#hold?.probe !== call) return
    this.#hold.probe = undefined
    this.#proceed()
  }

  /** Sends the next probe, once it is time. */
  #proceed(): void {
    const hold = this.#hold
    if (hold === undefined || this.#failure !== undefined || this.#isClosed) return
    if (hold.probe !== undefined || this.#stopTimer !== undefined) return
    const { waitMs } = this
    if (waitMs > 0) {
      this.#stopTimer = this.#runtime.startTimer(() => {
        this.#stopTimer = undefined
        this.#proceed()
      }, waitMs)
      return
    }
    if (this.#maxOutageMs === 0) {
      this.#lift()
      return
    }
    const [call, goOn] = this.#waiters.shift() ?? []
    hold.probe = call
    goOn?.(true)
  }

  #lift(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    this.#hold = undefined
    this.#admitAll(true)
    this.#onChange()
  }

  #admitAll(isAdmitted: boolean): void {
    const waiters = this.#waiters
    this.#waiters = []
    for (const [, goOn] of waiters) goOn(isAdmitted)
  }
}
