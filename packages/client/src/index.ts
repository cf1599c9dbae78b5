export type { CreatePlantsOptions, CreatePlantsResult, PlantSource } from './bulk-options.ts'
export type { PlantStoreMeta } from './call.ts'
export { type CreatePlantResult, createPlantStoreClient, type PlantStoreClient } from './client.ts'
export type { ErrorBody, ErrorName, ErrorStatus, NewPlantInput, Plant } from './contract-types.ts'
export { createPlants } from './create-plants.ts'
export { PlantStoreAbortError } from './errors/abort-error.ts'
export { type AnyPlantStoreError, isPlantStoreError } from './errors/any-error.ts'
export { PlantStoreApiError } from './errors/api-error.ts'
export { PlantStoreConfigError } from './errors/config-error.ts'
export { PlantStoreConnectionError, PlantStoreTimeoutError } from './errors/connection-error.ts'
export { PlantStoreInputError } from './errors/input-error.ts'
export {
  type Applied,
  PlantStoreError,
  type PlantStoreErrorCode,
  type PlantStoreErrorJson,
  type PlantStoreIssue,
} from './errors/plant-store-error.ts'
export { PlantStoreResponseError } from './errors/response-error.ts'
export type { PlantStoreEvent, PlantStoreEventListener } from './events.ts'
export type { CreatePlantOptions, PlantStoreClientOptions } from './options.ts'
export type { CreatePlantsProgress, CreatePlantsState } from './progress.ts'
export type { TokenContext, TokenFunction } from './token.ts'
