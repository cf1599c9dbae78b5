import { createPlantStoreClient, type Plant, PlantStoreError } from '@plant-store/client'

import client = require('@plant-store/client')

export async function store(): Promise<Plant> {
  const { createPlant } = createPlantStoreClient({ baseUrl: new URL('http://127.0.0.1:3000') })
  return createPlant({ id: 9223372036854775807n, name: 'Fern' })
}

export const isOurs = (error: unknown) => error instanceof PlantStoreError

// @ts-expect-error a plant has a name
export const nameless = client.createPlantStoreClient().createPlant({ id: 7 })
