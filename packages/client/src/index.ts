export { type CreatePlantResult, createPlantStoreClient, type PlantStoreClient } from './client.ts'
export type { ErrorName, NewPlantInput, Plant } from './contract-types.ts'
export { type CreatePlantsOptions, type CreatePlantsResult, createPlants } from './create-plants.ts'
export {
  type Applied,
  isPlantStoreError,
  PlantStoreError,
  type PlantStoreErrorCode,
  type PlantStoreIssue,
} from './errors.ts'
export type { PlantStoreEvent } from './events.ts'
export type { CreatePlantOptions, PlantStoreClientOptions } from './options.ts'
export type { PlantStoreFetch, PlantStoreMeta } from './response.ts'
export type { TokenFunction } from './token.ts'
