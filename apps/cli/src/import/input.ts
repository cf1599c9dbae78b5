import { basename } from 'node:path'
import type { Readable } from 'node:stream'
import { CliError, codeOf, exitCodes } from '../cli-error.ts'
import { openStream } from '../open-stream.ts'

/** The bytes of a file or of stdin, read once from their beginning. */
export type Input = ReturnType<typeof createInput>

function createInput(name: string, stream: Readable, totalBytes?: number) {
  let bytes = 0
  return {
    /** As messages call it. */
    name,
    /** Undefined for a stream. */
    totalBytes,
    /** How many bytes were read so far. */
    countBytes: () => bytes,
    /** @throws CliError when the file became shorter, at its end, and after `stop`. */
    async *chunks(): AsyncGenerator<Buffer> {
      for await (const chunk of stream) {
        bytes += chunk.length
        yield chunk
      }
      // Its last row may be cut in the middle and would be stored like that.
      if (bytes >= (totalBytes ?? 0)) return
      const why = `${name} became shorter while it was read`
      throw new CliError(why, exitCodes.usage, 'the same command, once the file is whole')
    },
    /** Ends the reading at once, also where a stream gives nothing. */
    stop(): void {
      stream.on('error', () => {})
      stream.destroy(new CliError('interrupted', exitCodes.interrupted))
    },
  }
}

/**
 * Opens a file or a pipe, or stdin for `-`.
 * @throws CliError (`usage`) when it cannot be read.
 */
export function openInput(path: string, stdin: NodeJS.ReadStream): Input {
  if (path === '-') return createInput('stdin', stdin)
  try {
    const { stats, stream } = openStream(path)
    if (!stats.isDirectory()) {
      return createInput(basename(path), stream, stats.isFile() ? stats.size : undefined)
    }
  } catch (error) {
    const code = codeOf(error)
    const why = code === 'ENOENT' ? `there is no file ${path}` : `${path} cannot be read: ${code}`
    throw new CliError(why, exitCodes.usage)
  }
  throw new CliError(`${path} is a folder`, exitCodes.usage, 'the name of a file in it')
}
