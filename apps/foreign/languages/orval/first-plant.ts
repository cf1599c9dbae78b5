import './exact-ids'
import { createPlant } from './plants'

const [id = '', name = ''] = process.argv.slice(2)
const headers = { authorization: `Bearer ${process.env.PLANT_STORE_TOKEN}` }
const plant = { id: BigInt(id), name, tag: 'indoor' }
createPlant(plant, { headers }).then(({ status, data }) =>
  console.log(JSON.stringify(status === 200 ? { stored: data } : data)),
)
