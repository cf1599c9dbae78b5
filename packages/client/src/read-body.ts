import type { Deadline } from './deadline.ts'
import type { FetchedResponse } from './fetch.ts'

/** What was read of a body. */
export interface ReadBody {
  readonly bytes: Uint8Array
  /** Whether it went on beyond the limit, as no response of the server's does. */
  readonly isCut: boolean
}

/**
 * Reads a body to its end or to about a limit, so that an endless one does not fill the memory.
 * Its deadline ends it even where fetch heeds no signal.
 * @param chunks gets what arrives, so that it is there where the rest does not come
 */
export async function readBody(
  response: FetchedResponse,
  limitBytes: number,
  deadline: Deadline,
  chunks: Uint8Array[],
): Promise<ReadBody> {
  // React Native has no streams, and those of node-fetch are Node's own.
  const body = response.body as ReadableStream<Uint8Array> | null | undefined
  if (typeof body?.getReader !== 'function') {
    return { bytes: new Uint8Array(await response.arrayBuffer()), isCut: false }
  }
  const reader = body.getReader()
  const cancel = () => void reader.cancel().catch(() => {})
  deadline.onEnd(cancel)
  if (deadline.ending) cancel()
  let length = 0
  for (;;) {
    const { value } = await reader.read()
    if (value === undefined) break
    chunks.push(value)
    length += value.length
    if (length > limitBytes) {
      cancel()
      break
    }
  }
  return { bytes: concatenate(chunks, length), isCut: length > limitBytes }
}

function concatenate(chunks: readonly Uint8Array[], length: number): Uint8Array {
  if (chunks.length === 1 && chunks[0] !== undefined) return chunks[0]
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}

/** The text of the beginning of a body. */
export function decodeText(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder()
  return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join('')
}
