import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Readable } from 'node:stream'
import { CliError, codeOf, exitCodes } from '../cli-error.ts'

/** Stands for stdin in place of a path. */
const STDIN = '-'
const CHUNK_BYTES = 65_536

/** The bytes of a file or of stdin, read once from their beginning. */
export class Input {
  /** As messages call it. */
  readonly name: string
  /** Undefined for a stream. */
  readonly totalBytes: number | undefined
  /** How many bytes were read so far. */
  bytes = 0
  readonly #stream: Readable

  constructor(name: string, stream: Readable, totalBytes?: number) {
    this.name = name
    this.totalBytes = totalBytes
    this.#stream = stream
  }

  /** @throws CliError when the file became shorter, at its end, and after `stop`. */
  async *chunks(): AsyncGenerator<Buffer> {
    for await (const chunk of this.#stream) {
      this.bytes += chunk.length
      yield chunk
    }
    // Its last row may be cut in the middle and would be stored like that.
    if (this.bytes < (this.totalBytes ?? 0)) {
      throw new CliError(
        `${this.name} became shorter while it was read`,
        exitCodes.usage,
        'the same command, once the file is whole',
      )
    }
  }

  /** Ends the reading at once, also where a stream gives nothing. */
  stop(): void {
    this.#stream.on('error', () => {})
    this.#stream.destroy(new CliError('interrupted', exitCodes.interrupted))
  }
}

function describeOpening(path: string, error: unknown): CliError {
  const code = codeOf(error)
  const message = code === 'ENOENT' ? `there is no file ${path}` : `${path} cannot be read: ${code}`
  return new CliError(message, exitCodes.usage)
}

/**
 * Opens a file, or stdin for `-`.
 * @throws CliError (`usage`) when it cannot be read.
 */
export async function openInput(path: string, stdin: NodeJS.ReadStream): Promise<Input> {
  if (path === STDIN) return new Input('stdin', stdin)
  const file = await open(path).catch((error: unknown) => {
    throw describeOpening(path, error)
  })
  const stats = await file.stat()
  if (stats.isDirectory()) {
    await file.close()
    const hint = 'the name of a file in it'
    throw new CliError(`${path} is a folder`, exitCodes.usage, hint)
  }
  const stream = file.createReadStream({ highWaterMark: CHUNK_BYTES })
  return new Input(basename(path), stream, stats.isFile() ? stats.size : undefined)
}
