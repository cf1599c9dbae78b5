import type { ErrorName } from '@plant-store/contract'
import type { CreateOutcome } from '../store/store.ts'

/** What became of a request to create a plant: stored, there already, or an error by its name. */
export type RequestOutcome = Exclude<CreateOutcome, 'id_taken'> | ErrorName

/** Is told of every reply of the service, for whoever measures. */
export interface RequestObserver {
  /**
   * A reply was handed to the connection; `durationMs` is from the end of the request's headers
   * to there, and is not known of bytes that never became a request.
   */
  answered(outcome: RequestOutcome, status: number, durationMs: number | undefined): void
}
