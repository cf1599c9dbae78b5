import type { ErrorName } from '@plant-store/contract'
import type { CommitTiming } from '../store/observer.ts'
import type { CreateOutcome } from '../store/store.ts'

/** What became of a request to create a plant: stored, there already, or an error by its name. */
export type RequestOutcome = Exclude<CreateOutcome, 'id_taken'> | ErrorName

/** Is notified of every response of the service, to measure them. */
export interface RequestObserver {
  /**
   * A response was handed to the connection. `durationMs` is the time since the end of the request's
   * headers; undefined for bytes that never became a request and for refusals before the app.
   */
  answered(outcome: RequestOutcome, status: number, durationMs: number | undefined): void
}

declare global {
  namespace Express {
    /** What the service knows of a request, and of the response that it will get. */
    interface Locals extends CommitTiming {
      requestId: string
      /** When its headers were complete, by performance.now(); undefined if its turn never came. */
      beganAt?: number
      /** Its trace, if that is recorded. */
      traceId?: string
      /** The name of its token. */
      tokenName?: string
      /** The id of its token; two tokens may have the same name. */
      tokenId?: string
      /** When its token was last found usable, by performance.now(). */
      judgedAt?: number
      /** What became of it, once that is known. */
      outcome?: RequestOutcome
      /** Headers that its response gets whatever it is, names and values in turn: see addHeader. */
      addedHeaders?: string[]
      /** Its response has been handed to the connection as a whole. */
      isAnswered?: true
    }
  }
}
