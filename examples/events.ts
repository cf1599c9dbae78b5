import { createPlantStoreClient } from '@plant-store/client'

const client = createPlantStoreClient({
  appName: 'greenhouse/2',
  onEvent: ({ type, attempt }) => console.log(type, attempt),
})
await client.createPlant({ id: 10, name: 'Mint' })
