import { type CreatePlantsProgress, createPlantStoreClient, createPlants } from '../src/index.ts'

/** `bare fetch` is what a program without the client would write. */
export type Way = 'bare fetch' | 'createPlants'

const AT_ONCE = 16

function* plants(rows: number): Generator<{ id: number; name: string }> {
  for (let id = 0; id < rows; id++) yield { id, name: 'Fern' }
}

/** Sends so many plants, and calls back after each. */
export async function sendPlants(
  way: Way,
  baseUrl: string,
  rows: number,
  onStored: () => void,
): Promise<void> {
  const source = plants(rows)
  if (way === 'bare fetch') {
    const headers = { authorization: 'Bearer token', 'content-type': 'application/json' }
    const work = async () => {
      for (const plant of source) {
        const init = { method: 'POST', headers, body: JSON.stringify(plant) }
        await (await fetch(`${baseUrl}/plants`, init)).json()
        onStored()
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    return
  }
  const client = createPlantStoreClient({ baseUrl, token: 'token' })
  let last: CreatePlantsProgress | undefined
  const onProgress = (progress: CreatePlantsProgress) => {
    last = progress
  }
  for await (const result of createPlants(client, source, { concurrency: AT_ONCE, onProgress })) {
    if (!result.ok) throw result.error
    onStored()
  }
  if (last?.settledRows !== rows) throw new Error(`settled are ${last?.settledRows}`)
}
