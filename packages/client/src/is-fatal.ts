import { PlantStoreAbortError } from './errors/abort-error.ts'
import { PlantStoreConfigError } from './errors/config-error.ts'
import { hasStatus, type PlantStoreError } from './errors/plant-store-error.ts'

/** Whether the error is one that every plant would meet, now and later. */
export function isFatal(error: PlantStoreError): boolean {
  const isOfAll = error instanceof PlantStoreConfigError || error instanceof PlantStoreAbortError
  return isOfAll || hasStatus(error, 401, 403)
}
