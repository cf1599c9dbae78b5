/**
 * Refusals that are told in one turn of the event loop, about a millisecond of it. To tell costs
 * half as much as to serve, and whoever is told may ask again at once: without a bound, callers
 * that do would leave no time for those that were let in.
 */
const REFUSALS_PER_TURN = 64

/** Has a refusal told when its turn comes. */
export type TellLater = (tell: () => void) => void

/** Tells refusals in the order in which they came, after the turn of the event loop and a few in each. */
export function createTellLater(): TellLater {
  const untold: (() => void)[] = []

  function tellSome(): void {
    for (const tell of untold.splice(0, REFUSALS_PER_TURN)) tell()
    if (untold.length > 0) setImmediate(tellSome)
  }

  return (tell) => {
    if (untold.length === 0) setImmediate(tellSome)
    untold.push(tell)
  }
}
