import type { ErrorName } from '@plant-store/contract'
import type { CreateOutcome } from '../store/store.ts'

/** What became of a request to create a plant: stored, there already, or an error by its name. */
export type RequestOutcome = Exclude<CreateOutcome, 'id_taken'> | ErrorName

/** Is notified of every reply of the service, to measure them. */
export interface RequestObserver {
  /**
   * A reply was handed to the connection. `durationMs` is the time since the end of the request's
   * headers; undefined for bytes that never became a request and for refusals before the app.
   */
  answered(outcome: RequestOutcome, status: number, durationMs: number | undefined): void
}
