import { readFile } from 'node:fs/promises'
import { createPlantStoreClient } from '@plant-store/client'

const file = process.env.TOKEN_FILE ?? 'token.txt'
const client = createPlantStoreClient({
  token: ({ signal }) => readFile(file, { encoding: 'utf8', signal }),
})
console.log(await client.createPlant({ id: 9, name: 'Basil' }))
