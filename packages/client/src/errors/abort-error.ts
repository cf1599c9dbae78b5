import { type Applied, PlantStoreError } from './plant-store-error.ts'

/** The caller aborted the call; `cause` is the reason of the signal. */
export class PlantStoreAbortError extends PlantStoreError {
  override name = 'PlantStoreAbortError'
  declare readonly code: 'aborted'

  constructor(reason: unknown, applied: Applied) {
    super('the call was aborted', 'aborted', { applied, cause: reason })
  }
}
