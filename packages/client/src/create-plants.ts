import { Bulk } from './bulk.ts'
import {
  bulkRules,
  type CreatePlantsOptions,
  type CreatePlantsResult,
  type PlantCreator,
  type PlantSource,
} from './bulk-options.ts'
import type { NewPlantInput } from './contract-types.ts'
import { PlantStoreConfigError } from './errors/config-error.ts'
import { checkOptions } from './options.ts'
import { type Runtime, systemRuntime } from './runtime.ts'

/** The results of a bulk, as createPlants gives them. */
type Results<Input extends NewPlantInput> = AsyncGenerator<
  CreatePlantsResult<Input>,
  void,
  undefined
>

async function* takeResults<Input extends NewPlantInput>(open: () => Bulk<Input>): Results<Input> {
  const bulk = open()
  try {
    for (let result = await bulk.next(); result !== undefined; result = await bulk.next()) {
      yield result
      bulk.pass(result)
    }
    bulk.throwFailure()
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
    throw new PlantStoreConfigError('invalid_option', 'source', 'must be iterable')
  }
  return takeResults(() => new Bulk(client, source, options, runtime))
}

/**
 * Stores many plants, some at once, and gives each result as soon as it is there, in any order.
 * A plant that is refused is a result like any other. It reads no further ahead than `concurrency`;
 * a 429 or 503 pauses all calls and halves their number; retries come out of one budget.
 *
 * What concerns every plant ends the loop once the calls on their way have ended and their results
 * are taken: a token that is missing or refused (401, 403), an abort, a Retry-After beyond
 * the client's limit, 20 plants in a row without a reply. A plant that came with no result was
 * then not sent. Leaving the loop early aborts the calls on their way.
 * @throws PlantStoreConfigError at once for options that cannot work; in the loop, at its end, the
 * PlantStoreError that ended it, or what the source threw.
 */
export function createPlants<Input extends NewPlantInput>(
  client: PlantCreator,
  source: PlantSource<Input>,
  options: CreatePlantsOptions = {},
): Results<Input> {
  return createPlantsWith(client, source, options, systemRuntime)
}
