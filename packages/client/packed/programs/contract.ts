import {
  contract,
  decodeJson,
  type ErrorBody,
  type ErrorCode,
  type ErrorName,
  type ErrorStatus,
  encodeJson,
  errorNameOf,
  errorTable,
  type JsonValue,
  NewPlant,
  type NewPlantInput,
  type Plant,
} from '@plant-store/contract'

const input: NewPlantInput = { id: 7, name: 'Fern' }
const id: bigint = NewPlant.parse(input).id
const value: JsonValue = decodeJson(new TextEncoder().encode(encodeJson({ id })))
const plant: Plant = contract.createPlant.responses[200].parse(value)
const failure: ErrorBody = contract.createPlant.responses[503].parse(value)
const again: NewPlantInput = NewPlant.parse(input)
const names = Object.keys(errorTable) as ErrorName[]
const name: ErrorName | undefined = errorNameOf(40003)

// @ts-expect-error a Plant has no id
export const none = plant.id
// @ts-expect-error an id is no string
export const text: NewPlantInput = { id: '7', name: 'Fern' }
// @ts-expect-error a name is no null
export const nameless: NewPlantInput = { id: 7, name: null }
// @ts-expect-error an error is a number
export const worded: ErrorBody = { error: '40003', message: '' }
// @ts-expect-error codes are literals
export const code: ErrorCode = failure.error
// @ts-expect-error a success is no status of an error
export const status: ErrorStatus = 200
// @ts-expect-error nothing is no JSON
export const nothing: JsonValue = undefined
// @ts-expect-error a function is no JSON
export const written = encodeJson({ water: () => undefined })

export { again, name, names }
