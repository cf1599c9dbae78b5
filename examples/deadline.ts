import { createPlantStoreClient, isPlantStoreError } from '@plant-store/client'

const client = createPlantStoreClient({ timeoutMs: 2_000, totalTimeoutMs: 20_000, maxRetries: 5 })
const controller = new AbortController()
process.once('SIGINT', () => controller.abort())

try {
  const { signal } = controller
  console.log(await client.createPlant({ id: 8, name: 'Aloe' }, { signal, totalTimeoutMs: 10_000 }))
} catch (error) {
  if (!isPlantStoreError(error)) throw error
  console.error(`${error.code} after ${error.attempts} requests; stored: ${error.applied}`)
}
