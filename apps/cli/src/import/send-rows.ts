import {
  type CreatePlantsProgress,
  createPlants,
  isPlantStoreError,
  type PlantStoreClient,
  type PlantStoreError,
} from '@plant-store/client'
import type { RowFeed } from './row-feed.ts'
import { type RowResult, toRowResult } from './row-result.ts'
import type { Row } from './row-window.ts'

export interface SendOptions {
  readonly client: PlantStoreClient
  readonly concurrency: number
  readonly maxOutageMs: number
  /** Ends the calls that are under way. */
  readonly signal: AbortSignal
  readonly onResult: (row: Row, result: RowResult) => void
  readonly onProgress: (progress: CreatePlantsProgress) => void
}

/**
 * Sends the plants of a feed, and gives each result that is certain. Returns what ended it before
 * its end: an error that concerns every row, or a row of which nothing is certain.
 * @throws what the feed throws
 */
export async function sendRows(
  feed: RowFeed,
  { client, onResult, ...options }: SendOptions,
): Promise<PlantStoreError | undefined> {
  let failure: PlantStoreError | undefined
  try {
    for await (const result of createPlants(client, feed.plants(), options)) {
      const row = feed.takeRow(result.index)
      const rowResult = toRowResult(result)
      if (rowResult !== undefined) onResult(row, rowResult)
      else if (!result.ok) {
        failure ??= result.error
        feed.stop()
      }
    }
  } catch (error) {
    if (!isPlantStoreError(error)) throw error
    failure ??= error
  }
  return failure
}
