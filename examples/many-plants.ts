import { createPlantStoreClient, createPlants } from '@plant-store/client'

async function* readPlants() {
  for (let id = 100n; id < 200n; id++) yield { id, name: `Seedling ${id}` }
  yield { id: 100n, name: 'Weed' }
}

const client = createPlantStoreClient()
let stored = 0
for await (const result of createPlants(client, readPlants(), { concurrency: 8 })) {
  if (result.ok) stored++
  else console.log(`row ${result.index}: ${result.error.message}`)
}
console.log(`${stored} stored`)
