import type { CreatePlantOptions } from './options.ts'
import type { Pace } from './pace.ts'

/** Under this symbol the options of a call may hold the Pace of a bulk; options that are spread keep it. */
export const PACER: unique symbol = Symbol('pacer')

/** The options of a call, and what a bulk adds to them. */
export interface PacedOptions extends CreatePlantOptions {
  readonly [PACER]?: Pace
}
