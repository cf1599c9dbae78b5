import { spawn } from '@lydell/node-pty'
import { expect, onTestFinished } from 'vitest'

export interface ScreenOptions {
  /** Stands in place of the whole environment; PATH is kept. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly columns?: number
}

/** The whole environment of a program; PATH is kept. */
export function environmentOf({ env = {} }: ScreenOptions): Record<string, string> {
  return { PATH: process.env.PATH ?? '', ...env }
}

/** Starts any program in a pseudo-terminal, and ends it with the test. */
export function openScreenOf(words: readonly string[], options: ScreenOptions = {}) {
  const { columns: cols = 100, cwd = process.cwd() } = options
  const [file = '', ...args] = words
  const name = options.env?.TERM ?? 'xterm-256color'
  const child = spawn(file, args, { cols, name, cwd, env: environmentOf(options) })
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
