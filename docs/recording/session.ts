import { spawn } from '@lydell/node-pty'
import { createEmulator } from './screen.ts'
import type { Frame } from './svg.ts'

/** Output that comes within it is one picture. */
const GATHER_MS = 90

/** What does not change for longer than this is cut out of the recording. */
const LONGEST_PAUSE_MS = 1_500

export interface Session {
  /**
   * Types as a person would.
   * @param betweenMs the time between two keys
   */
  type(text: string, betweenMs?: number): Promise<void>
  /**
   * Resolves once the screen shows it.
   * @throws Error with the screen when it has not come in time.
   */
  waitFor(words: RegExp, timeoutMs?: number): Promise<void>
  /** Lets a reader read. */
  rest(ms: number): Promise<void>
  /** The words on the screen. */
  text(): string
  /** All that was shown, long pauses cut. */
  frames(): Frame[]
  /** Ends the shell and all that it runs. */
  close(): void
}

export interface SessionOptions {
  readonly columns: number
  readonly rows: number
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function cutPauses(frames: readonly Frame[]): Frame[] {
  const cut: Frame[] = []
  let removedMs = 0
  for (const [index, frame] of frames.entries()) {
    const pauseMs = frame.atMs - (frames[index - 1]?.atMs ?? frame.atMs)
    removedMs += Math.max(0, pauseMs - LONGEST_PAUSE_MS)
    cut.push({ ...frame, atMs: frame.atMs - removedMs })
  }
  return cut
}

/** A shell in a pseudo-terminal, whose screen is noted each time that it changes. */
export function openSession({ columns, rows, folder, environment }: SessionOptions): Session {
  const emulator = createEmulator(columns, rows)
  const shell = spawn('/bin/sh', ['-i'], {
    name: 'xterm-256color',
    cols: columns,
    rows,
    cwd: folder,
    env: { ...environment, PS1: '$ ', TERM: 'xterm-256color' },
  })
  const frames: Frame[] = []
  const startMs = performance.now()
  let isGathering = false
  const note = () => {
    isGathering = false
    const screen = emulator.read()
    if (JSON.stringify({ ...screen, atMs: 0 }) === JSON.stringify({ ...frames.at(-1), atMs: 0 })) {
      return
    }
    frames.push({ ...screen, atMs: Math.round(performance.now() - startMs) })
  }
  shell.onData((output) => {
    void emulator.write(output).then(() => {
      if (!isGathering) setTimeout(note, GATHER_MS)
      isGathering = true
    })
  })
  return {
    async type(text, betweenMs = 0) {
      for (const key of text) {
        shell.write(key)
        await rest(betweenMs)
      }
    },
    async waitFor(words, timeoutMs = 60_000) {
      const endMs = performance.now() + timeoutMs
      while (!words.test(emulator.text())) {
        if (performance.now() > endMs) {
          throw new Error(`no ${words} on the screen:\n${emulator.text()}`)
        }
        await rest(GATHER_MS)
      }
    },
    rest,
    text: () => emulator.text(),
    frames() {
      note()
      return cutPauses(frames)
    },
    close: () => shell.kill('SIGKILL'),
  }
}
