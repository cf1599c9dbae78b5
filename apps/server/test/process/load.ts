import { randomBytes } from 'node:crypto'
import type { NewPlantInput, PlantStoreClient } from '@plant-store/client'

export interface Load {
  /** Plants that were answered 200. */
  readonly acknowledged: Map<bigint, NewPlantInput>
  /** Plants that were sent, whatever became of them. */
  readonly sent: Map<bigint, NewPlantInput>
  /** Resolves when every caller has stopped. */
  readonly ended: Promise<void>
  stop(): void
}

function randomPlant(): NewPlantInput & { id: bigint } {
  const id = randomBytes(8).readBigInt64BE()
  const tag = randomBytes(6).toString('hex')
  return { id, name: `plant ${id} of ${tag}`, tag }
}

/** Creates plants from several callers at once until stopped or refused. */
export function startLoad(client: PlantStoreClient, callers: number): Load {
  const acknowledged = new Map<bigint, NewPlantInput>()
  const sent = new Map<bigint, NewPlantInput>()
  let isStopped = false

  async function call(): Promise<void> {
    while (!isStopped) {
      const plant = randomPlant()
      sent.set(plant.id, plant)
      try {
        await client.createPlant(plant)
        acknowledged.set(plant.id, plant)
      } catch {
        return
      }
    }
  }

  const ended = Promise.all(Array.from({ length: callers }, call)).then(() => {})
  return {
    acknowledged,
    sent,
    ended,
    stop: () => {
      isStopped = true
    },
  }
}
