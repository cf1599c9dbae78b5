export type { ErrorBody, ErrorName, ErrorStatus, NewPlantInput, Plant } from '@plant-store/contract'
export {
  type CreatePlantAnswer,
  type CreatePlantOptions,
  createPlantStoreClient,
  type PlantStoreClient,
  type PlantStoreClientOptions,
} from './client.ts'
export {
  PlantStoreApiError,
  PlantStoreConfigError,
  PlantStoreConnectionError,
  PlantStoreError,
  PlantStoreInputError,
  PlantStoreResponseError,
} from './errors.ts'
