const INTERRUPTED = 130

/** Ends this process when it is asked to; what it started ends with it. */
export function watchForInterruption(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => process.exit(INTERRUPTED))
  }
}

/** Tells a failure and ends this process, whatever else would keep it alive. */
export function exitWith(error: unknown): never {
  console.error(error)
  process.exit(1)
}
