import { constants } from 'node:fs'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { syncFolder } from './journal.ts'

/** A file of rejects as this import writes it; what stands behind `bytes` is not written yet. */
export class RejectsFile {
  readonly path: string
  readonly #file: FileHandle
  #bytes: number

  constructor(path: string, file: FileHandle, bytes: number) {
    this.path = path
    this.#file = file
    this.#bytes = bytes
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Writes whole rejects behind the others; they are on the disk afterwards. */
  async append(chunks: readonly Uint8Array[]): Promise<void> {
    const bytes = Buffer.concat(chunks)
    for (let at = 0; at < bytes.length; ) {
      const { bytesWritten } = await this.#file.write(bytes, at, undefined, this.#bytes + at)
      at += bytesWritten
    }
    await this.#file.datasync()
    this.#bytes += bytes.length
  }

  /** Closes the file, and removes it where it holds no reject. */
  async close(): Promise<void> {
    await this.#file.close()
    if (this.#bytes === 0) await unlink(this.path)
  }
}

/** A file that holds something else than the rejects which this import wrote. */
export class RejectsFileError extends Error {
  override name = 'RejectsFileError'
  readonly bytes: number

  constructor(path: string, bytes: number) {
    super(`${path} holds ${bytes} bytes`)
    this.bytes = bytes
  }
}

async function openFile(
  path: string,
  bytes: number,
  isRight: (size: number) => boolean,
): Promise<RejectsFile> {
  const file = await open(path, constants.O_RDWR | constants.O_CREAT)
  try {
    const { size } = await file.stat()
    if (!isRight(size)) throw new RejectsFileError(path, size)
    await file.truncate(bytes)
    return new RejectsFile(path, file, bytes)
  } catch (error) {
    await file.close()
    throw error
  }
}

/**
 * Creates the file for the rejects of a new import.
 * @throws RejectsFileError when there is one already, and it is not empty.
 */
export async function createRejectsFile(path: string): Promise<RejectsFile> {
  const rejects = await openFile(path, 0, (size) => size === 0)
  await syncFolder(path)
  return rejects
}

/**
 * Opens the file of an import that goes on, and cuts off what its last run wrote and did not note.
 * @throws RejectsFileError when it holds less than was noted.
 */
export async function reopenRejectsFile(path: string, bytes: number): Promise<RejectsFile> {
  return await openFile(path, bytes, (size) => size >= bytes)
}
