import { randomBytes } from 'node:crypto'
import type { NewPlantInput, PlantStoreClient } from '@plant-store/client'

export type Load = ReturnType<typeof startLoad>

/** Creates plants from several callers at once until stopped or refused. */
export function startLoad(client: PlantStoreClient, callers: number) {
  /** Plants that were answered 200. */
  const acknowledged = new Map<bigint, NewPlantInput>()
  /** Plants that were sent, whatever became of them. */
  const sent = new Map<bigint, NewPlantInput>()
  let isStopped = false

  async function call(): Promise<void> {
    while (!isStopped) {
      const id = randomBytes(8).readBigInt64BE()
      const tag = randomBytes(6).toString('hex')
      const plant = { id, name: `plant ${id} of ${tag}`, tag }
      sent.set(id, plant)
      const isStored = client.createPlant(plant).then(
        () => true,
        () => false,
      )
      if (!(await isStored)) return
      acknowledged.set(id, plant)
    }
  }

  return {
    acknowledged,
    sent,
    /** Resolves when every caller has stopped. */
    ended: Promise.all(Array.from({ length: callers }, call)),
    stop() {
      isStopped = true
    },
  }
}
