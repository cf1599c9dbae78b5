import { Bulk, type CreatePlantsResult, type PlantSource } from './bulk.ts'
import type { NewPlantInput } from './contract-types.ts'
import { optionError } from './errors.ts'
import {
  type CreatePlantOptions,
  checkOptions,
  eachCallRules,
  FUNCTION,
  integerFrom,
  type Rules,
  timeOr,
} from './options.ts'
import { type CreatePlantsProgress, Progress } from './progress.ts'
import { type PlantCreator, RowSender } from './row-sender.ts'
import { type Runtime, systemRuntime } from './runtime.ts'

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

const bulkRules: Rules = {
  ...eachCallRules,
  concurrency: integerFrom(1),
  maxOutageMs: timeOr(0),
  onProgress: FUNCTION,
}

/** 2 cores were kept busy by 16 calls; slower networks gain from more. */
const DEFAULT_CONCURRENCY = 16

/** Enough for a restart of a machine. */
export const DEFAULT_MAX_OUTAGE_MS = 300_000

/** The results of a bulk, as createPlants gives them. */
type Results<Input extends NewPlantInput> = AsyncGenerator<
  CreatePlantsResult<Input>,
  void,
  undefined
>

async function* run<Input extends NewPlantInput>(
  client: PlantCreator,
  source: PlantSource<Input>,
  options: CreatePlantsOptions,
  runtime: Runtime,
): Results<Input> {
  const { concurrency = DEFAULT_CONCURRENCY, onProgress, signal, ...callOptions } = options
  const { maxOutageMs = DEFAULT_MAX_OUTAGE_MS, ...eachCall } = callOptions
  const aborted = new AbortController()
  let bulk: Bulk<Input> | undefined
  const onChange = () => bulk?.onChange()
  const given = { ...eachCall, signal: aborted.signal }
  const sender = new RowSender(client, given, { runtime, maxOutageMs, onChange })
  const progress = new Progress(runtime, onProgress, () => sender.outage.state)
  bulk = new Bulk(source, { sender, progress, concurrency, signal, aborted })
  try {
    for (let result = await bulk.next(); result !== undefined; result = await bulk.next()) {
      yield result
      progress.onTaken(result.index)
    }
    if (bulk.failure !== undefined) throw bulk.failure.reason
  } finally {
    await bulk.close()
  }
}

/** The same as createPlants, with its clock, timers and chance taken from `runtime`. */
export function createPlantsWith<Input extends NewPlantInput>(
  client: PlantCreator,
  source: PlantSource<Input>,
  options: CreatePlantsOptions,
  runtime: Runtime,
): Results<Input> {
  checkOptions(options, bulkRules)
  const { [Symbol.iterator]: iterate, [Symbol.asyncIterator]: iterateAsync } = Object(source)
  if (typeof source !== 'object' || (iterate ?? iterateAsync) === undefined) {
    throw optionError('invalid_option', 'source', 'must be iterable')
  }
  return run(client, source, options, runtime)
}

/**
 * Stores many plants, some at once, and gives each result as soon as it is there, in any order.
 * A plant that is refused is a result like any other. It reads no further ahead than `concurrency`,
 * and runs at most 4,096 rows ahead of the first whose result is not taken.
 *
 * An outage fails no plant: where a connection fails, a request is not answered in time, or a 429,
 * 502, 503 or 504 comes, all plants wait until the server is there again. That counts neither as a
 * retry nor towards `totalTimeoutMs`. A plant that fails three times while the server is there has
 * failed for what it holds, and is given up as a result.
 *
 * What concerns every plant ends the loop once the calls on their way have ended and their results
 * are taken: a token that is missing or refused (401, 403), an abort, an outage longer than
 * `maxOutageMs`, 20 plants in a row that got no word of the server. A plant that came with no result,
 * or with 0 attempts, was then not sent. Leaving the loop early aborts the calls on their way.
 * @throws PlantStoreError at once for options that cannot work; in the loop, at its end, the one that
 * ended it, or what the source threw.
 */
export function createPlants<Input extends NewPlantInput>(
  client: PlantCreator,
  source: PlantSource<Input>,
  options: CreatePlantsOptions = {},
): Results<Input> {
  return createPlantsWith(client, source, options, systemRuntime)
}
