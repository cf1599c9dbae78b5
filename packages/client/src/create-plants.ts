import { Bulk } from './bulk.ts'
import {
  bulkRules,
  type CreatePlantsOptions,
  type CreatePlantsResult,
  type PlantCreator,
  type PlantSource,
} from './bulk-options.ts'
import type { NewPlantInput } from './contract-types.ts'
import { optionError } from './errors.ts'
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
  return takeResults(() => new Bulk(client, source, options, runtime))
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
