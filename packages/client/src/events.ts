import type { Applied, PlantStoreErrorCode } from './errors.ts'

/** Why an attempt or a call failed. */
interface Failure {
  /** Why it failed. */
  readonly code: PlantStoreErrorCode
  /** The same in words for people, without secrets. */
  readonly message: string
}

/** What an event says besides its call and attempt. */
export type EventFacts =
  | {
      /** A request is about to be sent. */
      readonly type: 'request'
    }
  | {
      /** A response began, and has ended or broken off. */
      readonly type: 'response'
      /** HTTP status of the response; 0 for a redirect in a browser, which hides its status. */
      readonly status: number
      /** From this request to the end of its response, in milliseconds. */
      readonly durationMs: number
    }
  | ({
      /** The attempt failed, and another will be made. */
      readonly type: 'retry'
      /** The wait before the next request, in milliseconds. */
      readonly delayMs: number
    } & Failure)
  | ({
      /** The call failed. */
      readonly type: 'failure'
      /** Whether the plant was stored. */
      readonly applied: Applied
      /** The whole call, in milliseconds. */
      readonly durationMs: number
    } & Failure)

/** What happens in a call, as it happens. Holds no header, no body and no token. */
export type PlantStoreEvent = EventFacts & {
  /** The same for every event of a call. */
  readonly requestId: string
  /** Which request of the call, from 1; 0 where none was sent. */
  readonly attempt: number
}

/** Calls a listener of the caller's; what it throws, or rejects with, goes nowhere. */
export function notify<Value>(
  listener: ((value: Value) => unknown) | undefined,
  value: Value,
): void {
  if (listener === undefined) return
  new Promise((resolve) => resolve(listener(value))).catch(() => {})
}
