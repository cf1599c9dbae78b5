import { Configuration, PlantsApi, type ResponseError } from './client/index'
import './exact-ids'

const [id = '', name = ''] = process.argv.slice(2)
const plants = new PlantsApi(
  new Configuration({
    basePath: process.env.PLANT_STORE_BASE_URL,
    accessToken: process.env.PLANT_STORE_TOKEN,
  }),
)
plants.createPlant({ newPlant: { id: BigInt(id), name, tag: 'indoor' } }).then(
  (stored) => console.log(JSON.stringify({ stored })),
  async (refusal: ResponseError) => console.log(await refusal.response.text()),
)
