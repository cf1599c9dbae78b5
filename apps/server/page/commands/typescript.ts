import type { NewPlant } from '@plant-store/contract'
import { type Call, type Language, quote, urlOf } from './call.ts'

function writePlant({ id, name, tag }: NewPlant): string {
  const tagged = tag === undefined ? '' : `, tag: ${quote(tag)}`
  return `{ id: ${id}n, name: ${quote(name)}${tagged} }`
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
  method: 'POST',
  headers: { authorization: \`Bearer \${token}\`, 'content-type': 'application/json' },
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
