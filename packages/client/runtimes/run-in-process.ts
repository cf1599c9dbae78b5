import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { BUILT_CLIENT, bundle, pathOf } from './bundle.ts'
import type { HostileServer } from './hostile-server.ts'
import type { CaseResult } from './run-cases.ts'
import { type Runtime, UNDICI } from './runtimes.ts'

/** The claim about the process that made the calls. */
export const ENDS_CLAIM = 'the process ends by itself once its calls are done'

/** What a runtime may take to close what it kept open; a forgotten timer takes longer. */
const END_MS = 4_000

const PACKAGES = pathOf('../node_modules')

/** Far more than a run takes. */
const RUN_MS = 150_000

interface Outcome {
  readonly output: string
  /** ms from the results to the end of the process. */
  readonly endsAfterMs: number
}

async function runScript(command: string, args: readonly string[]): Promise<Outcome> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const timer = setTimeout(() => child.kill('SIGKILL'), RUN_MS)
  let output = ''
  let printedAt = Number.NaN
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    printedAt = performance.now()
  })
  await new Promise((resolve) => child.once('close', resolve))
  clearTimeout(timer)
  return { output, endsAfterMs: performance.now() - printedAt }
}

/** Runs every case in a process of a runtime, against the built client. */
export async function runInProcess(
  { program, kind, flags, title }: Runtime,
  { controlUrl }: HostileServer,
): Promise<CaseResult[]> {
  if (program === undefined || UNDICI === undefined)
    throw new Error(`there is no ${title} on this machine`)
  // Inside the package, where every runtime finds what the client imports.
  const folder = mkdtempSync(join(PACKAGES, '.hostile-'))
  const script = join(folder, 'run-cases.mjs')
  try {
    writeFileSync(script, await bundle('process-entry.ts', 'neutral'))
    const urls = [BUILT_CLIENT, UNDICI].map((path) => pathToFileURL(path).href)
    const args = [...flags, script, controlUrl, ...urls, kind]
    const { output, endsAfterMs } = await runScript(program, args)
    if (output === '') throw new Error(`${title} gave no results`)
    const holds = endsAfterMs < END_MS
    const problem = `it ended ${Math.round(endsAfterMs)} ms after its results`
    const ends = { claim: ENDS_CLAIM, holds, ms: Math.round(endsAfterMs) }
    return [...(JSON.parse(output) as CaseResult[]), holds ? ends : { ...ends, problem }]
  } finally {
    rmSync(folder, { recursive: true })
  }
}
