import { setTimeout as sleep } from 'node:timers/promises'
import type { NewPlant } from '@plant-store/contract'
import { OutcomeUnknownError, type PlantStore, StoreUnavailableError } from '../../store/store.ts'

export interface CopyOptions {
  readonly target: PlantStore
  readonly signal: AbortSignal
  /** Called when the target cannot be used now, and with undefined when it can again. */
  readonly onOutage: (error: Error | undefined) => void
  /** How long an outage may last until it ends the copy, in ms. Default: any time. */
  readonly outageLimitMs?: number
}

const RETRY_PAUSE_MS = 500

function isOutage(error: unknown): error is Error {
  return error instanceof StoreUnavailableError || error instanceof OutcomeUnknownError
}

/**
 * Stores plants in the target, again and again through its outages, because a repeat is harmless.
 * Gives the plants whose id is taken there by other content.
 * @throws the error of an outage over the limit, and any other at once.
 */
export async function copyPlants(
  plants: readonly NewPlant[],
  { target, signal, onOutage, outageLimitMs = Number.POSITIVE_INFINITY }: CopyOptions,
): Promise<NewPlant[]> {
  const conflicts: NewPlant[] = []
  const startedAt = performance.now()
  let left = plants
  for (;;) {
    const results = await Promise.allSettled(left.map((plant) => target.create(plant)))
    const failures = results.filter((result) => result.status === 'rejected')
    const outcomeOf = (index: number) => {
      const result = results[index]
      return result?.status === 'fulfilled' ? result.value : undefined
    }
    conflicts.push(...left.filter((_, index) => outcomeOf(index) === 'id_taken'))
    left = left.filter((_, index) => outcomeOf(index) === undefined)
    const error: unknown = failures[0]?.reason
    onOutage(error as Error | undefined)
    if (left.length === 0) return conflicts
    if (!isOutage(error) || performance.now() - startedAt > outageLimitMs) throw error
    await sleep(RETRY_PAUSE_MS, undefined, { signal })
  }
}
