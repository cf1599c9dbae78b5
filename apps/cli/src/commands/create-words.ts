import {
  type Applied,
  isPlantStoreError,
  type NewPlantInput,
  type PlantStoreError,
  type PlantStoreMeta,
} from '@plant-store/client'
import { encodeJson, type JsonWritable } from '@plant-store/contract'
import { CliError } from '../cli-error.ts'
import { wasThere } from '../was-there.ts'

/** What became of a plant, for programs. */
export type Outcome = 'stored' | 'alreadyThere' | 'notStored' | 'unknown'

/** `9007199254740993 "Fern" (indoor)` */
function describePlant({ id, name, ...others }: NewPlantInput): string {
  const values = Object.values(others).map((value) => (value === '' ? '""' : String(value)))
  return `${id} "${name}"${values.length === 0 ? '' : ` (${values.join(', ')})`}`
}

/** What became of a plant that is stored, in one sentence. */
export function describeStored(plant: NewPlantInput, meta: PlantStoreMeta): string {
  return wasThere(meta)
    ? `${describePlant(plant)} was there already.`
    : `Stored ${describePlant(plant)}.`
}

const wordsByApplied: Readonly<Record<Applied, string>> = {
  no: 'was not stored',
  maybe: 'may have been stored',
  yes: 'was stored, but',
}

/** Whether the plant of a failure was stored, and why it failed. */
export function describeFailed(
  { id }: NewPlantInput,
  { applied, message }: PlantStoreError,
): string {
  return `${id} ${wordsByApplied[applied]}: ${message}`
}

const outcomeByApplied: Readonly<Record<Applied, Outcome>> = {
  no: 'notStored',
  maybe: 'unknown',
  yes: 'stored',
}

/** One JSON object for a plant that is stored, its id with every digit. */
export function storedToJson(plant: NewPlantInput, meta: PlantStoreMeta): string {
  const outcome: Outcome = wasThere(meta) ? 'alreadyThere' : 'stored'
  return toJson({ outcome, plant, requestId: meta.requestId })
}

/** The same for a failure, whatever it is. */
export function failureToJson(plant: Partial<NewPlantInput>, error: unknown): string {
  const { cause, hint, message } =
    error instanceof CliError ? error : { cause: error, hint: undefined, message: String(error) }
  // Without an error of the client nothing was sent; what is no CliError was not foreseen.
  const outcome: Outcome = isPlantStoreError(cause)
    ? outcomeByApplied[cause.applied]
    : error instanceof CliError
      ? 'notStored'
      : 'unknown'
  const facts = isPlantStoreError(cause) ? cause.toJSON() : {}
  return toJson({ outcome, plant, error: { ...facts, message, hint } })
}

function toJson(value: object): string {
  return encodeJson(value as JsonWritable)
}
