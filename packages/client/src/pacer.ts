import type { PlantStoreError } from './errors/plant-store-error.ts'
import type { CreatePlantOptions } from './options.ts'
import type { RetryDecision } from './retry.ts'

/** What the calls of a bulk share, so that they wait and give up together. */
export interface Pacer {
  /** How long nothing should be sent, in milliseconds. */
  readonly pauseMs: number
  /** Called for each attempt that failed, with what follows by the rules of a single call. */
  onFailure(error: PlantStoreError, decision: RetryDecision): void
  /** Takes a retry from what is left of them; false where none is. */
  takeRetry(error: PlantStoreError): boolean
}

/** Under this symbol the options of a call may hold a Pacer; options that are spread keep it. */
export const PACER: unique symbol = Symbol('pacer')

/** The options of a call, and what a bulk adds to them. */
export interface PacedOptions extends CreatePlantOptions {
  readonly [PACER]?: Pacer
}
