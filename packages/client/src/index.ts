export type { CreatePlantsResult } from './bulk.ts'
export type { PlantStoreMeta } from './call.ts'
export { type CreatePlantResult, createPlantStoreClient, type PlantStoreClient } from './client.ts'
export type { ErrorName, NewPlantInput, Plant } from './contract-types.ts'
export { type CreatePlantsOptions, createPlants } from './create-plants.ts'
export {
  type Applied,
  isPlantStoreError,
  PlantStoreError,
  type PlantStoreErrorCode,
  type PlantStoreIssue,
} from './errors.ts'
export type { PlantStoreEvent } from './events.ts'
export type { PlantStoreFetch } from './fetch.ts'
export type { CreatePlantOptions, PlantStoreClientOptions } from './options.ts'
export type { CreatePlantsProgress } from './progress.ts'
export type { TokenFunction } from './token.ts'
