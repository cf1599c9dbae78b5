import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { spawn as spawnInTerminal } from '@lydell/node-pty'
import headless from '@xterm/headless'
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

/** The program in a terminal of its own, and what a person sees there. */
export function openScreen(args: readonly string[], options: ScreenOptions = {}) {
  const { node = process.execPath, shell = 'exec "$@"' } = options
  return openScreenOf(['/bin/sh', '-c', shell, 'sh', node, PROGRAM, ...args], options)
}

/** Starts any program in a pseudo-terminal, with an emulated screen before it; it ends with the test. */
export function openScreenOf(words: readonly string[], options: ScreenOptions = {}) {
  const { columns = 100, cwd = process.cwd() } = options
  const [file = '', ...args] = words
  const size = { cols: columns, rows: 40 }
  const screen = new headless.Terminal({ ...size, scrollback: 10_000, allowProposedApi: true })
  const name = options.env?.TERM ?? 'xterm-256color'
  const child = spawnInTerminal(file, args, { ...size, name, cwd, env: environmentOf(options) })
  let written = ''
  child.onData((data) => {
    written += data
    screen.write(data)
  })
  // A screen answers questions of the program, such as where the cursor is.
  screen.onData((data) => child.write(data))
  let isEnded = false
  const ended = new Promise<number>((resolve) => {
    child.onExit(({ exitCode, signal }) => {
      isEnded = true
      screen.write('', () => resolve(signal ? 128 + signal : exitCode))
    })
  })
  onTestFinished(async () => {
    if (!isEnded) child.kill('SIGKILL')
    await ended
  })

  /** What is on the screen and above it, a line each, without spaces at the ends. */
  function lines(): string[] {
    const { active } = screen.buffer
    const all = Array.from({ length: active.length }, (_, index) => {
      return active.getLine(index)?.translateToString(true) ?? ''
    })
    return all.slice(0, all.findLastIndex((line) => line !== '') + 1)
  }

  return {
    lines,
    text: () => lines().join('\n'),
    /** Every byte that the program wrote to the terminal, as text. */
    written: () => written,
    /** Waits until the screen shows it. @throws what was shown instead. */
    async waitFor(shown: RegExp): Promise<void> {
      for (const end = Date.now() + 40_000; !shown.test(lines().join('\n')); ) {
        if (Date.now() > end) throw new Error(`${shown} is not shown, but:\n${lines().join('\n')}`)
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    },
    /** What a person types: `\r` is the return key, `\x03` Ctrl-C. */
    type: (keys: string) => child.write(keys),
    /** The exit code, once everything that was written is on the screen. */
    ended,
  }
}
