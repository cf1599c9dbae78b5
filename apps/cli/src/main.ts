#!/usr/bin/env node
import { exitCodes } from './cli-error.ts'
import { run } from './run.ts'
import { createTerminal } from './terminal.ts'

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

process.exitCode = await run(process.argv.slice(2), createTerminal(stop.signal))
