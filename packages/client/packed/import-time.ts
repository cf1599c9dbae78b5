import { spawnSync } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { pathOf } from './packages.ts'

/** Prints what importing the client takes beyond an empty module: medians of processes, in turn. */
const PROCESSES = 30

const modules = ['data:text/javascript,export{}', pathToFileURL(pathOf('../dist/index.js')).href]

function importIn(url: string): { processMs: number; importMs: number } {
  const script = `const t = performance.now(); await import('${url}'); console.log(performance.now() - t)`
  const startedAt = performance.now()
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script])
  return { processMs: performance.now() - startedAt, importMs: Number(stdout) }
}

function medianOf(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[times.length >> 1] ?? Number.NaN
}

const rounds = Array.from({ length: PROCESSES }, () => modules.map(importIn))
for (const what of ['processMs', 'importMs'] as const) {
  const [empty = 0, client = 0] = modules.map((_, at) =>
    medianOf(rounds.map((round) => round[at]?.[what] ?? Number.NaN)),
  )
  console.log(
    `${what}: ${(client - empty).toFixed(1)} more than an empty module's ${empty.toFixed(1)}`,
  )
}
