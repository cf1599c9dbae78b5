import { Bulk } from './bulk.ts'
import type { CreatePlantResult, PlantStoreClient } from './client.ts'
import type { NewPlantInput } from './contract-types.ts'
import { PlantStoreConfigError } from './errors.ts'
import { type CreatePlantOptions, callRules, checkOptions, type Rules } from './options.ts'
import { type Runtime, systemRuntime } from './runtime.ts'

/** Options of a bulk; those of a single call hold for each plant. */
export interface CreatePlantsOptions extends CreatePlantOptions {
  /** How many plants at most are on their way, or waiting to be taken, at once. Default: 16. */
  readonly concurrency?: number | undefined
  /** Whether a 429 or 503 halves the concurrency, to grow again with success. Default: true. */
  readonly adaptive?: boolean | undefined
}

/** What became of one plant of a bulk: where it stood in the source, from 0, and the plant as given. */
export type CreatePlantsResult<Input extends NewPlantInput = NewPlantInput> = CreatePlantResult & {
  readonly index: number
  readonly input: Input
}

/** Plants, as an array, a generator, or a stream of them. */
export type PlantSource<Input extends NewPlantInput = NewPlantInput> =
  | Iterable<Input>
  | AsyncIterable<Input>

const bulkRules: Rules = {
  ...callRules,
  concurrency: [
    (value) => Number.isSafeInteger(value) && Number(value) > 0,
    'must be an integer above 0',
  ],
  adaptive: [(value) => typeof value === 'boolean', 'must be a boolean'],
}

async function* takeResults<Input extends NewPlantInput>(
  open: () => Bulk<Input>,
): AsyncGenerator<CreatePlantsResult<Input>, void, undefined> {
  const bulk = open()
  try {
    for (let result = await bulk.next(); result !== undefined; result = await bulk.next()) {
      yield result
    }
    bulk.throwFailure()
  } finally {
    await bulk.close()
  }
}

/** The same as createPlants, with its clock, timers and chance taken from `runtime`. */
export function createPlantsWith<Input extends NewPlantInput>(
  client: Pick<PlantStoreClient, 'tryCreatePlant'>,
  source: PlantSource<Input>,
  options: CreatePlantsOptions,
  runtime: Runtime,
): AsyncGenerator<CreatePlantsResult<Input>, void, undefined> {
  checkOptions(options, bulkRules)
  const { [Symbol.iterator]: iterate, [Symbol.asyncIterator]: iterateAsync } = Object(source)
  if (typeof source !== 'object' || (iterate ?? iterateAsync) === undefined) {
    throw new PlantStoreConfigError('invalid_option', 'source', 'must be iterable')
  }
  return takeResults(() => new Bulk(client, source, options, runtime))
}

/**
 * Stores many plants, some at once, and gives each result as soon as it is there, in any order.
 * A plant that is refused is a result like any other. It reads no further ahead than `concurrency`;
 * a 429 or 503 pauses all calls and halves their number; retries come out of one budget.
 *
 * What concerns every plant ends the loop once the calls on their way have settled and their
 * results are taken: a token that is missing or refused (401, 403), an abort, a Retry-After beyond
 * the client's limit, 20 plants in a row without an answer. A plant that came with no result was
 * then not sent. Leaving the loop early aborts the calls on their way.
 * @throws PlantStoreConfigError at once for options that cannot work; in the loop, at its end, the
 * PlantStoreError that ended it, or what the source threw.
 */
export function createPlants<Input extends NewPlantInput>(
  client: Pick<PlantStoreClient, 'tryCreatePlant'>,
  source: PlantSource<Input>,
  options: CreatePlantsOptions = {},
): AsyncGenerator<CreatePlantsResult<Input>, void, undefined> {
  return createPlantsWith(client, source, options, systemRuntime)
}
