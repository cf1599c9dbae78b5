import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { environmentOf, openScreenOf, type ScreenOptions } from '../../../../test/screen.ts'

/** The program as the build makes it. */
const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

export interface ProgramOptions extends Pick<ScreenOptions, 'cwd' | 'env'> {
  /** The Node.js to run it on. Default: that of the tests. */
  readonly node?: string
}

/** Starts the program without a terminal; what its streams carry is the caller's to read. */
export function startProgram(args: readonly string[], options: ProgramOptions = {}) {
  const { node = process.execPath, cwd } = options
  return spawn(node, [PROGRAM, ...args], { cwd, env: environmentOf(options), stdio: 'pipe' })
}

/** Runs the program to its end without a terminal; `code` is null where a signal ended it. */
export async function runProgram(
  args: readonly string[],
  { input = '', ...options }: ProgramOptions & { readonly input?: string | Uint8Array } = {},
) {
  const child = startProgram(args, options)
  // A program that reads no input closes it.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const closed: Promise<[number | null]> = once(child, 'close') as never
  const [[code], stdout, stderr] = await Promise.all([
    closed,
    text(child.stdout),
    text(child.stderr),
  ])
  return { code, stdout, stderr }
}

/** The words of a line; one in quotes may hold blanks. */
export function wordsOf(line: string): string[] {
  return Array.from(line.matchAll(/"([^"]*)"|\S+/g), ([word, quoted]) => quoted ?? word)
}

/** How a program ended, for `toEqual`: by its code, and by what is within its texts. */
export function ends(code: number, stdout: string | RegExp = '', stderr: string | RegExp = '') {
  const within = (text: string | RegExp) =>
    typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text)
  return { code, stdout: within(stdout), stderr: within(stderr) }
}

/** Starts the program in a terminal of its own; `shell` runs in its place, with it as `"$@"`. */
export function openScreen(
  args: readonly string[],
  {
    node = process.execPath,
    shell = 'exec "$@"',
    ...options
  }: ProgramOptions & ScreenOptions & { readonly shell?: string } = {},
) {
  return openScreenOf(['/bin/sh', '-c', shell, 'sh', node, PROGRAM, ...args], options)
}
