#!/usr/bin/env node
import './process/without-proto.ts'
import { exitCodes } from './commands/command-error.ts'
import { boundNursery } from './process/nursery.ts'

// Node opens its inspector, which runs any code, on this signal unless a program listens to it
// (https://nodejs.org/api/process.html#signal-events).
process.on('SIGUSR1', () => {})

boundNursery()

const stop = new AbortController()

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    // A second signal means now: whoever sends it has waited enough.
    if (stop.signal.aborted) process.exit(1)
    stop.abort(signal)
  })
}

let changeLog = () => {}
// Listened to from the start, because the signal would otherwise end the process.
process.on('SIGUSR2', () => changeLog())

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that has seen enough, such as head, is no failure.
  if (error.code === 'EPIPE') return
  process.stderr.write(`plant-store-server: cannot write its output: ${error.message}\n`)
  process.exit(exitCodes.ioError)
})

// There is no other place to tell of it.
process.stderr.on('error', () => {})

// Loaded only now, because signals are not heard before.
const { run } = await import('./run.ts')

process.exitCode = await run(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  output: process.stdout,
  get input() {
    return process.stdin
  },
  isInteractive: process.stderr.isTTY === true,
  stop: stop.signal,
  onLogSignal(change) {
    changeLog = change
  },
})

// What may still hold the process has had its time: a reader of the output that takes nothing, a
// disk, a database or a collector that does not answer.
if (stop.signal.aborted || process.exitCode === exitCodes.ioError) process.exit()
