import {
  createPlantStoreClient,
  type PlantStoreClient,
  type PlantStoreClientOptions,
} from '@plant-store/client'
import { createRestClient, type RestClient } from '@plant-store/client/rest'

/** A client of the server under test; `rest` sends each plant once and gives every status. */
export interface TestClient extends PlantStoreClient {
  readonly rest: RestClient
}

export function createTestClient(options: PlantStoreClientOptions): TestClient {
  const rest = createRestClient({ ...options, maxRetries: 0 })
  return { ...createPlantStoreClient(options), rest }
}
