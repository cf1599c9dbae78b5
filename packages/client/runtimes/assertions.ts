/** A claim of a case does not hold. */
export class ClaimError extends Error {
  override name = 'ClaimError'
}

function show(value: unknown): string {
  return typeof value === 'bigint' ? `${value}n` : (JSON.stringify(value) ?? String(value))
}

export function assertTrue(holds: boolean, claim: string): asserts holds {
  if (!holds) throw new ClaimError(claim)
}

/** Compares by `Object.is`, and arrays and plain objects by their JSON. */
export function assertEqual(actual: unknown, expected: unknown, subject: string): void {
  if (Object.is(actual, expected) || show(actual) === show(expected)) return
  throw new ClaimError(`${subject}: ${show(actual)} instead of ${show(expected)}`)
}

export function assertOneOf(actual: unknown, allowed: readonly unknown[], subject: string): void {
  if (allowed.includes(actual)) return
  throw new ClaimError(`${subject}: ${show(actual)} instead of one of ${show(allowed)}`)
}

/** Bounds are ms, both included. */
export function assertWithin(ms: number, least: number, most: number, subject: string): void {
  if (ms >= least && ms <= most) return
  throw new ClaimError(`${subject}: ${Math.round(ms)} ms instead of ${least} to ${most} ms`)
}
