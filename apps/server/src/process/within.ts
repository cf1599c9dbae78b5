/**
 * The result of `work`, or `late` if it takes longer than a number of milliseconds; what becomes of
 * the work after that is ignored. Rejects when the work fails in time.
 */
export function within<Result, Late>(
  limitMs: number,
  work: Promise<Result>,
  late: Late,
): Promise<Result | Late> {
  const { promise, resolve } = Promise.withResolvers<Late>()
  const timer = setTimeout(resolve, limitMs, late)
  return Promise.race([work, promise]).finally(() => clearTimeout(timer))
}
