import { createPlantStoreClient, isPlantStoreError } from '@plant-store/client'

const client = createPlantStoreClient({
  baseUrl: process.env.PLANT_STORE_BASE_URL ?? 'http://127.0.0.1:3000',
  token: process.env.PLANT_STORE_TOKEN ?? '',
})
try {
  console.log(await client.createPlant({ id: 9223372036854775807n, name: 'Moss' }))
} catch (error) {
  if (!isPlantStoreError(error)) throw error
  console.error(error.message)
}
