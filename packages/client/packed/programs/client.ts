import {
  type AnyPlantStoreError,
  type CreatePlantsResult,
  createPlantStoreClient,
  createPlants,
  type ErrorName,
  isPlantStoreError,
  type Plant,
  type PlantStoreErrorCode,
} from '@plant-store/client'

const client = createPlantStoreClient({
  token: async ({ refresh, signal }) => `${refresh} ${signal.aborted}`,
})
const plant: Plant = await client.createPlant({ id: 9223372036854775807n, name: 'Fern' })
const withoutTag: Plant = { name: plant.name, tag: undefined }

const result = await client.tryCreatePlant({ id: 7, name: 'Moss', tag: 'shade' })
const code: PlantStoreErrorCode | undefined = result.ok ? undefined : result.error.code

function nameOf(error: AnyPlantStoreError): ErrorName | undefined {
  return error.code === 'conflict' ? error.apiName : undefined
}

const results: CreatePlantsResult[] = []
for await (const one of createPlants(client, [{ id: 1, name: 'Ivy' }])) results.push(one)

// @ts-expect-error a Plant has no id
export const id = plant.id
// @ts-expect-error a plant has a name
export const nameless = client.createPlant({ id: 7 })
// @ts-expect-error an error has no body of the request
export const body = (error: unknown) => (isPlantStoreError(error) ? error.body : undefined)

export { code, nameOf, results, withoutTag }
