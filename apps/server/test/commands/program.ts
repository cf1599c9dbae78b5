import { Writable } from 'node:stream'
import { run } from '../../src/run.ts'

export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface ProgramOptions {
  readonly isInteractive?: boolean
  readonly stop?: AbortSignal
}

/** Runs a command line as the program would, within this process. */
export async function runProgram(
  args: readonly string[],
  { isInteractive = false, stop = new AbortController().signal }: ProgramOptions = {},
): Promise<Ended> {
  const out: Buffer[] = []
  let err = ''
  const code = await run(args, {
    out: (text) => void out.push(Buffer.from(text)),
    err: (text) => {
      err += text
    },
    output: new Writable({
      write(chunk, _encoding, done) {
        out.push(Buffer.from(chunk))
        done()
      },
    }),
    isInteractive,
    columns: () => undefined,
    stop,
    onLogSignal: () => {},
  })
  return { code, out: Buffer.concat(out).toString(), err }
}

/** Runs a command on a SQLite store; a command that is one text is split at its spaces. */
export function runOn(
  path: string,
  command: string | readonly string[],
  options?: ProgramOptions,
): Promise<Ended> {
  const args = typeof command === 'string' ? command.split(' ') : command
  return runProgram([...args, '--database-url', `sqlite:${path}`], options)
}

/** Resolves once something is true that no event reports. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 2))
}
