import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { addAbortSignal } from 'node:stream'
import { CommandError, exitCodes } from '../command-error.ts'
import { describeUnreadable } from '../failures.ts'
import type { Terminal } from '../terminal.ts'

/** A file that is read once, from start to end. */
export interface Input {
  readonly chunks: AsyncIterable<Uint8Array>
  /** In bytes; undefined for a pipe, which has no size. */
  readonly size: number | undefined
  /** Bytes read so far. */
  bytesRead(): number
}

const READ_AT_ONCE_BYTES = 65_536

async function openFile(path: string): Promise<{ stream: Readable; size: number | undefined }> {
  const file = await open(path).catch((error) => Promise.reject(describeUnreadable(error, path)))
  const stats = await file.stat()
  if (stats.isDirectory()) {
    await file.close()
    throw new CommandError(`cannot read ${path}: it is a folder`, exitCodes.noInput)
  }
  const stream = file.createReadStream({ highWaterMark: READ_AT_ONCE_BYTES })
  return { stream, size: stats.size === 0 ? undefined : stats.size }
}

/**
 * Opens a file, or standard input for `-`; reading ends with an AbortError on the stop signal.
 * @throws CommandError when it cannot be read.
 */
export async function openInput(path: string, { input, stop }: Terminal): Promise<Input> {
  const { stream, size } = path === '-' ? { stream: input, size: undefined } : await openFile(path)
  addAbortSignal(stop, stream)
  let bytesRead = 0
  async function* count(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of stream) {
        bytesRead += chunk.length
        yield chunk
      }
    } catch (error) {
      throw describeUnreadable(error, path)
    }
  }
  return { chunks: count(), size, bytesRead: () => bytesRead }
}
