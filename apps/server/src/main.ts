#!/usr/bin/env node
import './process/without-proto.ts'
import { setFlagsFromString } from 'node:v8'
import { exitCodes } from './commands/command-error.ts'
import { boundNursery } from './process/bound-nursery.ts'

const NEEDED_NODE = 24

// Before anything is loaded that an older one lacks.
if (Number.parseInt(process.versions.node, 10) < NEEDED_NODE) {
  const { argv0 } = process
  process.stderr.write(
    `plant-store-server: Node.js ${process.versions.node}, started as ${argv0}, is too old. ` +
      `Try: Node.js ${NEEDED_NODE} or newer\n`,
  )
  process.exit(exitCodes.config)
}

// Without a listener Node opens its inspector on this signal, which lets others run code here
// (https://nodejs.org/api/process.html#signal-events).
process.on('SIGUSR1', () => {})

// Like with `--max-semi-space-size=8`; at 256 connections this saves 90 MB.
boundNursery(16 * 1024 * 1024)
// Several threads would collect so small a nursery together, which takes a tenth of the processor
// time of a create at 256 connections. Holds for every thread of the process.
setFlagsFromString('--no-parallel-scavenge')

const stop = new AbortController()

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    // A second signal means: end at once.
    if (stop.signal.aborted) process.exit(1)
    stop.abort(signal)
  })
}

let changeLog = () => {}
// From the start, because without a listener the signal ends the process.
process.on('SIGUSR2', () => changeLog())

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that stops early, such as head, is no failure.
  if (error.code === 'EPIPE') return
  process.stderr.write(`plant-store-server: cannot write its output: ${error.message}\n`)
  process.exit(exitCodes.ioError)
})

// There is no other place to report it.
process.stderr.on('error', () => {})

// Loaded only now, because signals are not handled before.
const { run } = await import('./run.ts')

process.exitCode = await run(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  output: process.stdout,
  isInteractive: process.stderr.isTTY === true,
  columns: () => process.stderr.columns,
  stop: stop.signal,
  onLogSignal(change) {
    changeLog = change
  },
})

// A reader that takes no output, or a disk, database or collector that does not answer, must not
// keep the process alive any longer.
if (stop.signal.aborted || process.exitCode === exitCodes.ioError) process.exit()
