import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { spawn as spawnInTerminal } from '@lydell/node-pty'
import { expect, onTestFinished } from 'vitest'

/** The program as the build makes it. */
const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

export interface ProgramOptions {
  /** Stands in place of the whole environment; PATH is kept. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** The Node.js to run it on. Default: that of the tests. */
  readonly node?: string
}

function environmentOf({ env = {} }: ProgramOptions): Record<string, string> {
  return { PATH: process.env.PATH ?? '', ...env }
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

export interface ScreenOptions extends ProgramOptions {
  readonly columns?: number
  /** A shell command to run in place of the program; `"$@"` is the program with its arguments. */
  readonly shell?: string
}

/** Starts the program in a terminal of its own. */
export function openScreen(args: readonly string[], options: ScreenOptions = {}) {
  const { node = process.execPath, shell = 'exec "$@"' } = options
  return openScreenOf(['/bin/sh', '-c', shell, 'sh', node, PROGRAM, ...args], options)
}

/** Starts any program in a pseudo-terminal, and ends it with the test. */
export function openScreenOf(words: readonly string[], options: ScreenOptions = {}) {
  const { columns: cols = 100, cwd = process.cwd() } = options
  const [file = '', ...args] = words
  const name = options.env?.TERM ?? 'xterm-256color'
  const child = spawnInTerminal(file, args, { cols, name, cwd, env: environmentOf(options) })
  let written = ''
  child.onData((data) => {
    written += data
  })
  let isEnded = false
  const ended = new Promise<number>((resolve) => {
    child.onExit(({ exitCode, signal }) => {
      isEnded = true
      resolve(signal ? 128 + signal : exitCode)
    })
  })
  onTestFinished(async () => {
    if (!isEnded) child.kill('SIGKILL')
    await ended
  })
  /** What a person sees in the end: no colours, and of a line that was cleared what came behind. */
  const text = () => written.replace(/^[^\n]*\r\u001b\[K|\u001b\[\d*m|\r$/gm, '').trimEnd()
  return {
    text,
    lines: () => text().split('\n'),
    /** Every byte that the program wrote to the terminal, as text. */
    written: () => written,
    waitFor: (shown: RegExp) => expect.poll(text, { interval: 10 }).toMatch(shown),
    /** What a person types: `\r` is the return key, `\x03` Ctrl-C. */
    type: (keys: string) => child.write(keys),
    /** The exit code. */
    ended,
  }
}
