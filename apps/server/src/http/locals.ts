import type { CommitTiming } from '../store/observer.ts'
import type { RequestOutcome } from './request-observer.ts'

declare global {
  namespace Express {
    /** What the service knows of a request, and of the reply that it will get. */
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
      /** Headers that its reply gets whatever it is, names and values in turn: see addHeader. */
      addedHeaders?: string[]
      /** Its reply has been handed to the connection as a whole. */
      isAnswered?: true
    }
  }
}
