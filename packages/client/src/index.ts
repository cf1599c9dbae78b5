export type { PlantStoreMeta } from './call.ts'
export {
  type CreatePlantAnswer,
  type CreatePlantResult,
  createPlantStoreClient,
  type PlantStoreClient,
} from './client.ts'
export {
  PlantStoreAbortError,
  PlantStoreConnectionError,
  PlantStoreTimeoutError,
} from './connection-errors.ts'
export type { ErrorBody, ErrorName, ErrorStatus, NewPlantInput, Plant } from './contract-types.ts'
export {
  type CreatePlantsOptions,
  type CreatePlantsResult,
  createPlants,
  type PlantSource,
} from './create-plants.ts'
export {
  type AnyPlantStoreError,
  isPlantStoreError,
  PlantStoreApiError,
  PlantStoreConfigError,
  PlantStoreInputError,
  PlantStoreResponseError,
} from './errors.ts'
export type { PlantStoreEvent, PlantStoreEventListener } from './events.ts'
export type { CreatePlantOptions, PlantStoreClientOptions } from './options.ts'
export {
  type Applied,
  PlantStoreError,
  type PlantStoreErrorCode,
  type PlantStoreErrorJson,
  type PlantStoreIssue,
} from './plant-store-error.ts'
export type { TokenContext, TokenFunction } from './token.ts'
