import { createPlantStoreClient } from '@plant-store/client'

const client = createPlantStoreClient({
  baseUrl: 'http://plants.example',
  token: 'token',
  maxRetries: 0,
  fetch: async (_url, { body }) => {
    const { id, name } = JSON.parse(body)
    if (id === 1) return Response.json({ name })
    return Response.json({ error: 50300, message: 'the queue is full' }, { status: 503 })
  },
})
console.log(await client.createPlant({ id: 1, name: 'Fern' }))
const result = await client.tryCreatePlant({ id: 2, name: 'Moss' })
console.log(result.ok ? 'stored' : result.error.code)
