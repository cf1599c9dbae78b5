import { constants, createReadStream, fstatSync, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { basename } from 'node:path'
import type { Readable } from 'node:stream'
import { CliError, codeOf, exitCodes } from '../cli-error.ts'

const CHUNK_BYTES = 65_536

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

/** The open of a pipe would wait for one who writes to it, whatever signal comes. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK

/**
 * Opens a file or a pipe, or stdin for `-`.
 * @throws CliError (`usage`) when it cannot be read.
 */
export function openInput(path: string, stdin: NodeJS.ReadStream): Input {
  if (path === '-') return createInput('stdin', stdin)
  let fd: number
  try {
    fd = openSync(path, FLAGS)
  } catch (error) {
    const code = codeOf(error)
    const why = code === 'ENOENT' ? `there is no file ${path}` : `${path} cannot be read: ${code}`
    throw new CliError(why, exitCodes.usage)
  }
  const stats = fstatSync(fd)
  if (stats.isDirectory()) {
    throw new CliError(`${path} is a folder`, exitCodes.usage, 'the name of a file in it')
  }
  const name = basename(path)
  if (stats.isFIFO()) return createInput(name, new Socket({ fd, readable: true }))
  const stream = createReadStream(path, { fd, highWaterMark: CHUNK_BYTES })
  return createInput(name, stream, stats.isFile() ? stats.size : undefined)
}
