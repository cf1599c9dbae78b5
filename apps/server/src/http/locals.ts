import type { CommitTiming } from '../store/observer.ts'
import type { RequestOutcome } from './request-observer.ts'

declare global {
  namespace Express {
    /** What the service knows of a request while it is answered. */
    interface Locals extends CommitTiming {
      requestId: string
      /** The name of the token that opened the service to this request. */
      tokenName?: string
      /** Its trace, where it is recorded. */
      traceId?: string
      /** When its headers were whole, by performance.now(). */
      beganAt?: number
      /** What became of it, once that is known. */
      outcome?: RequestOutcome
      /** When its token was last found usable, by performance.now(). */
      judgedAt?: number
      /** Its id, which tells it from another of the same name. */
      tokenId?: string
    }
  }
}
