import { createPlantStoreClient } from '@plant-store/client'
import { fetch, ProxyAgent } from 'undici'

const dispatcher = new ProxyAgent(process.env.PROXY_URL ?? 'http://127.0.0.1:3128')
const client = createPlantStoreClient({
  fetch: (url, init) => fetch(url, { ...init, dispatcher }),
})
console.log(await client.createPlant({ id: 12, name: 'Yucca' }))
