import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { pathOf } from './packages.ts'

/** Prints what importing the client takes beyond an empty module: medians of processes, in turn. */
const PROCESSES = 30

const folder = mkdtempSync(join(tmpdir(), 'plant-store-import-'))
const empty = join(folder, 'empty.mjs')
writeFileSync(empty, 'export {}')
const modules = [empty, pathOf('../dist/index.js')].map((path) => pathToFileURL(path).href)

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
rmSync(folder, { recursive: true })
for (const what of ['processMs', 'importMs'] as const) {
  const [least = 0, client = 0] = modules.map((_, at) =>
    medianOf(rounds.map((round) => round[at]?.[what] ?? Number.NaN)),
  )
  console.log(
    `${what}: ${(client - least).toFixed(1)} more than an empty module's ${least.toFixed(1)}`,
  )
}
