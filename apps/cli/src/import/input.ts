import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Readable } from 'node:stream'
import { CliError, codeOf, exitCodes } from '../cli-error.ts'

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
      const why = `${this.name} became shorter while it was read`
      throw new CliError(why, exitCodes.usage, 'the same command, once the file is whole')
    }
  }

  /** Ends the reading at once, also where a stream gives nothing. */
  stop(): void {
    this.#stream.on('error', () => {})
    this.#stream.destroy(new CliError('interrupted', exitCodes.interrupted))
  }
}

/**
 * Opens a file, or stdin for `-`.
 * @throws CliError (`usage`) when it cannot be read.
 */
export async function openInput(path: string, stdin: NodeJS.ReadStream): Promise<Input> {
  if (path === '-') return new Input('stdin', stdin)
  const file = await open(path).catch((error: unknown) => {
    const code = codeOf(error)
    const why = code === 'ENOENT' ? `there is no file ${path}` : `${path} cannot be read: ${code}`
    throw new CliError(why, exitCodes.usage)
  })
  const stats = await file.stat()
  if (stats.isDirectory()) {
    await file.close()
    throw new CliError(`${path} is a folder`, exitCodes.usage, 'the name of a file in it')
  }
  const stream = file.createReadStream({ highWaterMark: CHUNK_BYTES })
  return new Input(basename(path), stream, stats.isFile() ? stats.size : undefined)
}
