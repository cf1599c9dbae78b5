import type { CreatePlantResult, PlantStoreClient } from './client.ts'
import type { NewPlantInput } from './contract-types.ts'
import {
  type CreatePlantOptions,
  eachCallRules,
  FUNCTION,
  integerFrom,
  type Rules,
  timeOr,
} from './options.ts'
import type { CreatePlantsProgress } from './progress.ts'

/**
 * Options of a bulk; those of a single call hold for each plant, but an outage counts neither towards
 * `maxRetries`, even where it is 0, nor towards `totalTimeoutMs`; and a request id is for one call.
 */
export interface CreatePlantsOptions extends Omit<CreatePlantOptions, 'requestId'> {
  /** How many plants at most are on their way, or waiting to be taken, at once. Default: 16. */
  readonly concurrency?: number | undefined
  /**
   * How long an outage may last, in milliseconds, from the first failure to the next response: a
   * server that is away, or that asks to wait (429, 503, Retry-After). Then the error of the last
   * request ends the loop. Default: 300,000.
   */
  readonly maxOutageMs?: number | undefined
  /**
   * Called with the progress at most about ten times a second, at each change of state, and at the
   * end. What it throws or returns changes nothing. Default: none.
   */
  readonly onProgress?: ((progress: CreatePlantsProgress) => unknown) | undefined
}

/** What became of one plant of a bulk: where it stood in the source, from 0, and the plant as given. */
export type CreatePlantsResult<Input extends NewPlantInput = NewPlantInput> = CreatePlantResult & {
  /** Where the plant stood in the source, from 0. */
  readonly index: number
  /** The plant as the source gave it. */
  readonly input: Input
}

/** Plants, as an array, a generator, or a stream of them. */
export type PlantSource<Input extends NewPlantInput> = Iterable<Input> | AsyncIterable<Input>

/** The part of a client that a bulk uses. */
export type PlantCreator = Pick<PlantStoreClient, 'tryCreatePlant' | 'checkToken'>

/** Enough for a restart of a machine. */
export const DEFAULT_MAX_OUTAGE_MS = 300_000

/** 2 cores were kept busy by 16 calls; slower networks gain from more. */
export const DEFAULT_CONCURRENCY = 16

export const bulkRules: Rules = {
  ...eachCallRules,
  concurrency: integerFrom(1),
  maxOutageMs: timeOr(0),
  onProgress: FUNCTION,
}
