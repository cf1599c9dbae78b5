import './exact-ids'
import { createClient } from './plants/client'
import { createPlant } from './plants/sdk.gen'

const [id = '', name = ''] = process.argv.slice(2)
const client = createClient({
  baseUrl: process.env.PLANT_STORE_BASE_URL,
  auth: process.env.PLANT_STORE_TOKEN,
})
const plant = { id: BigInt(id), name, tag: 'indoor' }
createPlant({ client, body: plant }).then(({ data, error }) =>
  console.log(JSON.stringify(data === undefined ? error : { stored: data })),
)
