import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Readable } from 'node:stream'
import { CliError, codeOf } from '../cli-error.ts'
import { exitCodes } from '../exit-codes.ts'

/** The bytes to import, read once from their beginning. */
export interface Input {
  /** As messages call it. */
  readonly name: string
  /** Undefined for a stream, which no later run could read again. */
  readonly path: string | undefined
  readonly totalBytes: number | undefined
  /** How many bytes were read so far. */
  readonly bytes: number
  /** @throws CliError when the file became shorter, at its end; InputStopped after `stop`. */
  chunks(): AsyncIterable<Uint8Array>
  /** Ends the reading at once, also where a stream gives nothing. */
  stop(): void
  close(): Promise<void>
}

/** The reading was stopped on purpose. */
export class InputStopped extends Error {
  override name = 'InputStopped'
}

const STDIN = '-'
const CHUNK_BYTES = 65_536

interface Source {
  readonly stream: Readable
  readonly path: string | undefined
  readonly name: string
  readonly totalBytes: number | undefined
}

class SourceInput implements Input {
  readonly name: string
  readonly path: string | undefined
  readonly totalBytes: number | undefined
  bytes = 0
  readonly #source: Source
  #isStopped = false
  #refuse = (_: InputStopped) => {}

  constructor(source: Source) {
    this.name = source.name
    this.path = source.path
    this.totalBytes = source.totalBytes
    this.#source = source
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    const chunks: AsyncIterator<Uint8Array> = this.#source.stream[Symbol.asyncIterator]()
    for (;;) {
      if (this.#isStopped) throw new InputStopped()
      const next = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
        this.#refuse = reject
        chunks.next().then(resolve, reject)
      })
      if (next.done) break
      this.bytes += next.value.length
      yield next.value
    }
    // Its last row may be cut in the middle and would be stored like that.
    if (this.bytes < (this.totalBytes ?? 0)) {
      throw new CliError(`${this.name} became shorter while it was read`, exitCodes.usage, {
        hint: 'the same command, once the file is whole',
      })
    }
  }

  stop(): void {
    this.#isStopped = true
    this.#refuse(new InputStopped())
  }

  async close(): Promise<void> {
    this.stop()
    this.#source.stream.destroy()
  }
}

function describeOpening(path: string, error: unknown): CliError {
  const code = codeOf(error)
  const options = { cause: error }
  if (code === 'ENOENT') return new CliError(`there is no file ${path}`, exitCodes.usage, options)
  return new CliError(`${path} cannot be read: ${code}`, exitCodes.usage, options)
}

/**
 * Opens a file, or stdin for `-`.
 * @throws CliError (`usage`) when it cannot be read.
 */
export async function openInput(path: string, stdin: NodeJS.ReadStream): Promise<Input> {
  if (path === STDIN) {
    return new SourceInput({ stream: stdin, path: undefined, name: 'stdin', totalBytes: undefined })
  }
  const file = await open(path).catch((error: unknown) => {
    throw describeOpening(path, error)
  })
  const stats = await file.stat()
  if (stats.isDirectory()) {
    await file.close()
    const hint = 'the names of the files in it'
    throw new CliError(`${path} is a folder`, exitCodes.usage, { hint })
  }
  const isFile = stats.isFile()
  return new SourceInput({
    stream: file.createReadStream({ highWaterMark: CHUNK_BYTES }),
    path: isFile ? path : undefined,
    name: basename(path),
    totalBytes: isFile ? stats.size : undefined,
  })
}
