import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { NewPlant } from '@plant-store/contract'
import { expect } from 'vitest'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { run } from '../../src/run.ts'
import { makeStore, spreadPlants } from './plants.ts'
import { runShell } from './shell.ts'

export type Ended = Awaited<ReturnType<typeof runProgram>>

export interface ProgramOptions {
  readonly isInteractive?: boolean
  readonly stop?: AbortSignal
}

/** The words of a command line; one that is a text is split at its spaces. */
export type CommandLine = string | readonly string[]

function wordsOf(line: CommandLine): readonly string[] {
  return typeof line === 'string' ? line.split(' ') : line
}

/** Runs a command line as the program would, within this process. */
export async function runProgram(
  line: CommandLine,
  { isInteractive = false, stop = new AbortController().signal }: ProgramOptions = {},
) {
  const out: Buffer[] = []
  let err = ''
  const output = new Writable({
    write(chunk, _encoding, done) {
      out.push(Buffer.from(chunk))
      done()
    },
  })
  const code = await run(wordsOf(line), {
    out: (text) => void out.push(Buffer.from(text)),
    err: (text) => {
      err += text
    },
    output: Object.assign(output, { columns: 300 }),
    isInteractive,
    columns: () => undefined,
    stop,
    onLogSignal: () => {},
  })
  return { code, out: Buffer.concat(out).toString(), err }
}

/** Runs a command on the store that a URL names. */
export function runAt(databaseUrl: string, line: CommandLine, options?: ProgramOptions) {
  return runProgram([...wordsOf(line), '--database-url', databaseUrl], options)
}

/** Runs a command on a SQLite store. */
export function runOn(path: string, line: CommandLine, options?: ProgramOptions) {
  return runAt(`sqlite:${path}`, line, options)
}

/** How a command line ends: its code, what standard error says, and all of standard output. */
export function ends(code: number, says: string | RegExp = '', out: unknown = expect.any(String)) {
  const err = says instanceof RegExp ? expect.stringMatching(says) : expect.stringContaining(says)
  return { code, err, out }
}

/**
 * A folder to work in, and its store where the program keeps it by default, with these plants, or so
 * many; without either there is no store.
 */
export async function arrange(plants?: number | readonly NewPlant[]) {
  const folder = temporaryFolder()
  const path = join(folder, 'data/plants.db')
  if (plants !== undefined) {
    await makeStore(path, typeof plants === 'number' ? spreadPlants(plants) : plants)
  }
  return {
    folder,
    path,
    /** The path of a file in the folder. */
    at: (name: string) => join(folder, name),
    run: (line: CommandLine, options?: ProgramOptions) => runOn(path, line, options),
    shell: (line: string, under?: string) => runShell(folder, line, under),
  }
}

/** Resolves once something is true that no event reports. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 2))
}
