import {
  contract,
  decodeJson,
  type ErrorName,
  encodeJson,
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
const names = Object.keys(errorTable) as ErrorName[]

// @ts-expect-error a Plant has no id
export const none = plant.id
// @ts-expect-error an id is no string
export const text: NewPlantInput = { id: '7', name: 'Fern' }

export { names }
