import { createPlantStoreClient } from '@plant-store/client'

const { rest } = createPlantStoreClient()
const answer = await rest.createPlant({ body: { id: 11, name: 'Sage' } })
if (answer.status === 200) console.log(answer.body.name)
else console.log(answer.status, answer.body.error, answer.body.message)
