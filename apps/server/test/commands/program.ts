import { PassThrough, Readable, Writable } from 'node:stream'
import { run } from '../../src/run.ts'

export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface ProgramOptions {
  /** What stands on standard input. */
  readonly input?: string | Uint8Array
  readonly isInteractive?: boolean
  readonly stop?: AbortSignal
}

/** Runs a command line as the program would, within this process. */
export async function runProgram(
  args: readonly string[],
  { input, isInteractive = false, stop = new AbortController().signal }: ProgramOptions = {},
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
    input: input === undefined ? new PassThrough() : Readable.from([Buffer.from(input)]),
    isInteractive,
    stop,
    onLogSignal: () => {},
  })
  return { code, out: Buffer.concat(out).toString(), err }
}

/** Resolves once something is so that no event tells. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2))
}
