import type { NewPlant } from '@plant-store/contract'
import { fieldsOf } from '../plant.ts'
import {
  authorization,
  type Call,
  contentType,
  contentTypeHeader,
  type Language,
  method,
  quote,
  SCHEME,
  urlOf,
} from './call.ts'

function writePlant(plant: NewPlant): string {
  const fields = fieldsOf(plant).map(([name, value]) => {
    return `${name}: ${typeof value === 'bigint' ? `${value}n` : quote(value)}`
  })
  return `{ ${fields.join(', ')} }`
}

function tokenOf({ token }: Call): string {
  return token === undefined ? "process.env.PLANT_STORE_TOKEN ?? ''" : quote(token)
}

function writeWithClient(call: Call, plant: NewPlant): string {
  return `import { createPlantStoreClient } from '@plant-store/client'

const client = createPlantStoreClient({
  baseUrl: ${quote(call.baseUrl)},
  token: ${tokenOf(call)},
})
const plant = ${writePlant(plant)}
console.log(await client.createPlant(plant))
`
}

/** The client sends nothing but plants. */
function writeWithFetch(call: Call): string {
  return `const token = ${tokenOf(call)}
const response = await fetch(${quote(urlOf(call))}, {
  method: '${method}',
  headers: { '${authorization}': \`${SCHEME}\${token}\`, '${contentTypeHeader}': '${contentType}' },
  body: ${quote(call.body)},
})
console.log(response.status, await response.text())
`
}

export const typescript: Language = {
  name: 'TypeScript',
  file: 'first.mts',
  run: 'npm install @plant-store/client && node first.mts',
  needs: 'Node.js 22.18 or later.',
  write: (call) => (call.plant ? writeWithClient(call, call.plant) : writeWithFetch(call)),
}
