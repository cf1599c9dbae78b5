import { createPlantStoreClient, type NewPlantInput } from '@plant-store/client'

const client = createPlantStoreClient({ totalTimeoutMs: 5_000 })

async function store(plant: NewPlantInput): Promise<string> {
  const result = await client.tryCreatePlant(plant)
  if (result.ok) return `stored ${result.plant.name}`
  const { error } = result
  switch (error.code) {
    case 'conflict':
      return `another plant has the id ${plant.id}`
    case 'invalid_plant':
      return error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join(', ')
    case 'unauthorized':
      return 'the token is unknown, revoked or expired'
    default:
      return `${error.message}; stored: ${error.applied}`
  }
}

console.log(await store({ id: 7, name: 'Fern' }))
console.log(await store({ id: 7, name: 'Moss' }))
console.log(await store({ id: 2 ** 53, name: 'Ivy' }))
