#!/usr/bin/env node
import { exitCodes } from './cli-error.ts'
import { run } from './run.ts'
import { createTerminal, type Environment } from './terminal.ts'

const stop = new AbortController()

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // A second signal means: end at once.
    if (stop.signal.aborted) process.exit(exitCodes.interrupted)
    stop.abort(signal)
  })
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that stops early, such as head, is no failure; plants are stored all the same.
  if (error.code === 'EPIPE') return
  process.stderr.write(`plant-store: its output cannot be written: ${error.message}\n`)
  process.exit(exitCodes.failure)
})

// There is no other place to report it.
process.stderr.on('error', () => {})

/** The only reader of the environment; a variable that is empty counts as not set. */
function readEnvironment(): Environment {
  const { PLANT_STORE_BASE_URL, PLANT_STORE_TOKEN, TERM } = process.env
  return {
    PLANT_STORE_BASE_URL: PLANT_STORE_BASE_URL || undefined,
    PLANT_STORE_TOKEN: PLANT_STORE_TOKEN || undefined,
    TERM,
  }
}

process.exitCode = await run(
  process.argv.slice(2),
  createTerminal(process, readEnvironment(), stop.signal),
)
