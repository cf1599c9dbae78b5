import './exact-ids'
import createClient from 'openapi-fetch'
import type { paths } from './schema'

const [id = '', name = '', tag] = process.argv.slice(2)
const client = createClient<paths>({
  baseUrl: process.env.PLANT_STORE_BASE_URL,
  headers: { authorization: `Bearer ${process.env.PLANT_STORE_TOKEN}` },
})
client
  .POST('/plants', { body: { id: BigInt(id), name, tag } })
  .then(({ data, error }) => console.log(JSON.stringify(error ?? { stored: data })))
