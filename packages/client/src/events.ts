import type { Applied, PlantStoreError } from './errors.ts'

/** Why an attempt or a call failed: the code of its error, and words for people without secrets. */
type Failure = Pick<PlantStoreError, 'code' | 'message'>

/** What an event says besides its call and attempt; all times are in milliseconds. */
export type EventFacts =
  /** A request is about to be sent. */
  | { readonly type: 'request' }
  /** A response began, and has ended or broken off; 0 is the status of a redirect in a browser. */
  | { readonly type: 'response'; readonly status: number; readonly durationMs: number }
  /** The attempt failed, and another will be made after a wait. */
  | ({ readonly type: 'retry'; readonly delayMs: number } & Failure)
  /** The call failed. */
  | ({ readonly type: 'failure'; readonly applied: Applied; readonly durationMs: number } & Failure)

/** What happens in a call, as it happens. Holds no header, no body and no token. */
export type PlantStoreEvent = EventFacts & {
  /** The same for every event of a call. */
  readonly requestId: string
  /** Which request of the call, from 1; 0 where none was sent. */
  readonly attempt: number
}
