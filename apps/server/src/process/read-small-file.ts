import { closeSync, constants, openSync, readSync } from 'node:fs'

/** What a pipe is waited for, such as that of a program that prints a secret. */
const PATIENCE_MS = 5_000
const LOOK_MS = 10

const pause = new Int32Array(new SharedArrayBuffer(4))

/** 0 at the end. A pipe without a writer ends at once, and one whose writer is silent after 5 s. */
function readOnce(file: number, buffer: Buffer, from: number): number {
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    try {
      return readSync(file, buffer, { offset: from })
    } catch (error) {
      const isSilent = (error as NodeJS.ErrnoException).code === 'EAGAIN'
      if (!isSilent || waitedMs >= PATIENCE_MS) throw error
      Atomics.wait(pause, 0, 0, LOOK_MS)
    }
  }
}

/**
 * The text of a file that a setting names, or of a pipe; it never waits for long.
 * @throws Error with the reason, such as a file that is longer or a device that never ends.
 */
export function readSmallFile(path: string, mostBytes: number): string {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const buffer = Buffer.alloc(mostBytes + 1)
    let length = 0
    for (let read = -1; read !== 0 && length < buffer.length; length += read) {
      read = readOnce(file, buffer, length)
    }
    if (length > mostBytes) throw new Error(`it is longer than ${mostBytes} bytes`)
    return new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, length))
  } finally {
    closeSync(file)
  }
}
