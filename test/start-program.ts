import { type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { onTestFinished } from 'vitest'
import type { OnEnd } from './temporary-folder.ts'

/** The server's program: the build, or the one that a release has made of it. */
export const MAIN =
  process.env.TESTED_PROGRAM ?? join(import.meta.dirname, '../apps/server/dist/main.js')

/** How a program ended, and what it printed: to each stream, and in the order of a terminal. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
  readonly printed: string
}

/** `detached`: with all that it starts in a process group of its own, which signals go to. */
export interface ProgramOptions extends Pick<SpawnOptions, 'cwd' | 'detached' | 'env'> {
  readonly uid?: number
  readonly gid?: number
  /** Takes what kills it and resolves once it has ended. */
  readonly onEnd?: OnEnd
}

/** Starts a program by its words, without input. */
export function startProgram(words: readonly string[], options: ProgramOptions = {}) {
  const [program = '', ...args] = words
  const { onEnd = onTestFinished, ...how } = options
  const child = spawn(program, args, { ...how, stdio: ['ignore', 'pipe', 'pipe'] })
  const texts = { out: '', err: '', printed: '' }
  const read = (stream: Readable, name: 'out' | 'err') =>
    stream.setEncoding('utf8').on('data', (chunk) => {
      texts[name] += chunk
      texts.printed += chunk
    })
  const streams = [read(child.stdout, 'out'), read(child.stderr, 'err')]
  const ended = once(child, 'close').then(([code, signal]): Ended => ({ code, signal, ...texts }))
  // Not until its output ends, which a process of its own may hold open.
  const exited = once(child, 'exit').then(
    () => {},
    () => {},
  )
  function kill(signal: NodeJS.Signals = 'SIGKILL') {
    try {
      if (how.detached) process.kill(-Number(child.pid), signal)
      else child.kill(signal)
    } catch {
      // It has ended meanwhile.
    }
    return exited
  }
  onEnd(() => kill())
  return {
    pid: Number(child.pid),
    /** What it has printed so far. */
    texts: texts as Readonly<typeof texts>,
    ended,
    /** Sends a signal; resolves once it has ended. */
    kill,
    /** Resolves with what a look at its texts finds. @throws Error where it ends before. */
    until: <Found>(find: () => Found | false | null) =>
      new Promise<Found>((resolve, reject) => {
        const look = () => {
          const found = find()
          if (found === null || found === false) return
          for (const stream of streams) stream.off('data', look)
          resolve(found)
        }
        for (const stream of streams) stream.on('data', look)
        ended.then(({ code }) => reject(new Error(`ended with ${code}: ${texts.printed}`)), reject)
        look()
      }),
  }
}
