import { closeSync, constants, openSync, readSync } from 'node:fs'

/** For how long a pipe may be silent, such as that of a program that prints a secret. */
const PATIENCE_MS = 5_000

const nothing = new Int32Array(new SharedArrayBuffer(4))

/**
 * The text of a file that a setting names, or of a pipe; one without a writer is empty.
 * @throws Error with the reason, such as a file that is longer or a device that never ends.
 */
export function readSmallFile(path: string, mostBytes: number): string {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  const deadline = performance.now() + PATIENCE_MS
  const buffer = Buffer.alloc(mostBytes + 1)
  let length = 0
  try {
    for (let read = -1; read !== 0 && length <= mostBytes; ) {
      try {
        read = readSync(file, buffer, { offset: length })
        length += read
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code !== 'EAGAIN' || performance.now() > deadline) throw error
        Atomics.wait(nothing, 0, 0, 10)
      }
    }
  } finally {
    closeSync(file)
  }
  if (length > mostBytes) throw new Error(`it is longer than ${mostBytes} bytes`)
  return new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, length))
}
