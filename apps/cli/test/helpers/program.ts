import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { spawn as spawnInTerminal } from '@lydell/node-pty'
import headless from '@xterm/headless'

/** The program as the build makes it. */
export const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

export interface ProgramOptions {
  /** Stands in place of the whole environment; PATH is kept. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** The Node.js to run it on. Default: that of the tests. */
  readonly node?: string
}

export interface ProgramResult {
  /** null where a signal ended it. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

function environmentOf({ env = {} }: ProgramOptions): Record<string, string> {
  return { PATH: process.env.PATH ?? '', ...env }
}

/** Starts the program without a terminal; what its streams carry is the caller's to read. */
export function startProgram(args: readonly string[], options: ProgramOptions = {}) {
  return spawn(options.node ?? process.execPath, [PROGRAM, ...args], {
    cwd: options.cwd,
    env: environmentOf(options),
    stdio: 'pipe',
  })
}

/** Runs the program to its end without a terminal, as in a pipe or a job. */
export async function runProgram(
  args: readonly string[],
  { input = '', ...options }: ProgramOptions & { readonly input?: string | Uint8Array } = {},
): Promise<ProgramResult> {
  const child = startProgram(args, options)
  // A program that reads no input closes it.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ])
  return { code, stdout, stderr }
}

/** The program in a terminal of its own, and what a person sees there. */
export interface Screen {
  readonly pid: number
  /** What is on the screen and above it, a line each, without spaces at the ends. */
  lines(): string[]
  /** The same as one text. */
  text(): string
  /** Every byte that the program wrote to the terminal, as text. */
  written(): string
  /** Waits until the screen shows it. @throws what was shown instead, after `ms` (default 40,000). */
  waitFor(shown: string | RegExp, ms?: number): Promise<void>
  /** What a person types: `\r` is the return key, `\x03` Ctrl-C. */
  type(keys: string): void
  kill(signal: NodeJS.Signals): void
  /** The exit code, once everything that was written is on the screen. */
  readonly ended: Promise<number>
}

export interface ScreenOptions extends ProgramOptions {
  readonly columns?: number
  readonly rows?: number
  /** A shell command to run in place of the program; `"$@"` is the program with its arguments. */
  readonly shell?: string
}

/** Starts the program in a pseudo-terminal, with an emulated screen before it. */
export function openScreen(args: readonly string[], options: ScreenOptions = {}): Screen {
  const { node = process.execPath, shell = 'exec "$@"' } = options
  return openScreenOf(['/bin/sh', '-c', shell, 'sh', node, PROGRAM, ...args], options)
}

/** Starts any program in the same way. */
export function openScreenOf(words: readonly string[], options: ScreenOptions = {}): Screen {
  const { columns = 100, rows = 40 } = options
  const [file = '', ...args] = words
  const screen = new headless.Terminal({
    cols: columns,
    rows,
    scrollback: 10_000,
    allowProposedApi: true,
  })
  const child = spawnInTerminal(file, args, {
    name: options.env?.TERM ?? 'xterm-256color',
    cols: columns,
    rows,
    cwd: options.cwd ?? process.cwd(),
    env: environmentOf(options),
  })
  let written = ''
  child.onData((data) => {
    written += data
    screen.write(data)
  })
  // A screen answers questions of the program, such as where the cursor is.
  screen.onData((data) => child.write(data))
  const ended = new Promise<number>((resolve) => {
    child.onExit(({ exitCode, signal }) => {
      screen.write('', () => resolve(signal ? 128 + signal : exitCode))
    })
  })

  function lines(): string[] {
    const { active } = screen.buffer
    const all = Array.from({ length: active.length }, (_, index) => {
      return active.getLine(index)?.translateToString(true) ?? ''
    })
    return all.slice(0, all.findLastIndex((line) => line !== '') + 1)
  }

  async function waitFor(shown: string | RegExp, ms = 40_000): Promise<void> {
    const end = Date.now() + ms
    const isShown = () => {
      const seen = lines().join('\n')
      return typeof shown === 'string' ? seen.includes(shown) : shown.test(seen)
    }
    while (!isShown()) {
      if (Date.now() > end) throw new Error(`${shown} is not shown, but:\n${lines().join('\n')}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  return {
    pid: child.pid,
    lines,
    text: () => lines().join('\n'),
    written: () => written,
    waitFor,
    type: (keys) => child.write(keys),
    kill: (signal) => child.kill(signal),
    ended,
  }
}
