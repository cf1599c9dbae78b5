import type { Applied, PlantStoreErrorCode } from './errors/plant-store-error.ts'

/** What an event says besides its call and attempt. */
export type EventFacts =
  | {
      /** A request is about to be sent. */
      readonly type: 'request'
    }
  | {
      /** A reply began, and has ended or broken off. */
      readonly type: 'response'
      /** HTTP status of the reply; 0 for a redirect in a browser, which hides its status. */
      readonly status: number
      /** From this request to the end of its reply, in milliseconds. */
      readonly durationMs: number
    }
  | {
      /** The attempt failed, and another will be made. */
      readonly type: 'retry'
      /** Why the attempt failed. */
      readonly code: PlantStoreErrorCode
      /** The same in words for people, without secrets. */
      readonly message: string
      /** The wait before the next request, in milliseconds. */
      readonly delayMs: number
    }
  | {
      /** The call failed. */
      readonly type: 'failure'
      /** Why the call failed. */
      readonly code: PlantStoreErrorCode
      /** The same in words for people, without secrets. */
      readonly message: string
      /** Whether the plant was stored. */
      readonly applied: Applied
      /** The whole call, in milliseconds. */
      readonly durationMs: number
    }

/** What happens in a call, as it happens. Holds no header, no body and no token. */
export type PlantStoreEvent = EventFacts & {
  /** The same for every event of a call. */
  readonly requestId: string
  /** Which request of the call, from 1; 0 where none was sent. */
  readonly attempt: number
}

/** Called for each event. What it throws or returns changes nothing. */
export type PlantStoreEventListener = (event: PlantStoreEvent) => unknown

/** Notifies each listener. */
export function emitEvent(
  listeners: readonly PlantStoreEventListener[],
  event: PlantStoreEvent,
): void {
  for (const listener of listeners) {
    // Within a promise, so that an async listener's rejection goes nowhere either.
    new Promise((resolve) => resolve(listener(event))).catch(() => {})
  }
}
