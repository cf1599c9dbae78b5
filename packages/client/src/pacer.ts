import type { PlantStoreError } from './errors/plant-store-error.ts'
import type { CreatePlantOptions } from './options.ts'
import type { RetryDecision } from './retry.ts'

/** What a bulk says to the calls that it makes; each call is known by an object of its own. */
export interface Pacer {
  /** Why no further plant should be sent; undefined while they should. */
  readonly fatal: PlantStoreError | undefined
  /** How long at least nothing is sent, in milliseconds. */
  readonly waitMs: number
  /** Whether the call must not send before it has entered. */
  holds(call: object): boolean
  /** Resolves once the call may send; to false where it never may. */
  enter(call: object): Promise<boolean>
  /** The call sends a request. */
  onRequest(isFirst: boolean): void
  /**
   * What came of a request: an error, or a plant. True where the call is to enter and to send again,
   * whatever its own rules.
   */
  onReply(call: object, error: PlantStoreError | undefined): boolean
  /** Whether the call may send again as its own rules decide. */
  takeRetry(error: PlantStoreError, decision: RetryDecision): boolean
  /** The call is over. */
  leave(call: object): void
}

/** Under this symbol the options of a call may hold the Pacer of a bulk; options that are spread keep it. */
export const PACER: unique symbol = Symbol('pacer')

/** The options of a call, and what a bulk adds to them. */
export interface PacedOptions extends CreatePlantOptions {
  readonly [PACER]?: Pacer
}
