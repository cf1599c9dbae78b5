#!/usr/bin/env node
import { run } from './run.ts'

const stop = new AbortController()

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    // A second signal means now: whoever sends it has waited enough.
    if (stop.signal.aborted) process.exit(1)
    stop.abort()
  })
}

process.exitCode = await run(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  stop: stop.signal,
})
