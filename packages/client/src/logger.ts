import type { PlantStoreEvent, PlantStoreEventListener } from './events.ts'

/** A debug log, such as `console`. */
export interface PlantStoreLogger {
  /**
   * Takes a line for each event of each call, such as `plant-store retry 1: no reply from …`, and the
   * event itself. Neither holds a header, a body or the token. What it throws changes nothing.
   */
  debug(message: string, event: PlantStoreEvent): unknown
}

/** A listener that writes what it is called with to a log. */
export function logTo(logger: PlantStoreLogger): PlantStoreEventListener {
  return (event) => {
    const { type, attempt } = event
    const why = 'message' in event ? `: ${event.message}` : ''
    return logger.debug(`plant-store ${type} ${attempt}${why}`, event)
  }
}
