import type { Applied, PlantStoreErrorCode } from './errors/plant-store-error.ts'

/** What an event says besides its call and attempt. */
export type EventFacts =
  | { readonly type: 'request' }
  | {
      readonly type: 'response'
      readonly status: number
      /** From this request to the end of its reply, in milliseconds. */
      readonly durationMs: number
    }
  | {
      readonly type: 'retry'
      /** Why the attempt failed. */
      readonly code: PlantStoreErrorCode
      /** The wait before the next request, in milliseconds. */
      readonly delayMs: number
    }
  | {
      readonly type: 'failure'
      readonly code: PlantStoreErrorCode
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

/** Notifies a listener, if there is one. */
export function emitEvent(
  listener: PlantStoreEventListener | undefined,
  event: PlantStoreEvent,
): void {
  if (listener === undefined) return
  // Within a promise, so that an async listener's rejection goes nowhere either.
  new Promise((resolve) => resolve(listener(event))).catch(() => {})
}
