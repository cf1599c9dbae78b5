import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { PlantFileError } from './plant-record.ts'

const MAGIC = Buffer.of(0x1f, 0x8b)

const CHUNK_BYTES = 65_536

/** Whether bytes begin as gzip does (RFC 1952 §2.3.1). */
export function isGzip(head: Buffer): boolean {
  return head.subarray(0, MAGIC.length).equals(MAGIC)
}

function describeError(error: unknown, isBehind: boolean): unknown {
  const { code = '' } = error as { readonly code?: string }
  if (!code.startsWith('Z_')) return error
  const what = isBehind
    ? 'has bytes behind the end of its gzip'
    : code === 'Z_BUF_ERROR'
      ? 'is cut: the end of its gzip is missing'
      : 'is broken: its gzip cannot be read'
  return new PlantFileError(`it ${what}. Try: the whole file again`, { cause: error })
}

/**
 * Unpacks gzip, also of several members, with no more in memory than a few chunks.
 * @throws PlantFileError where the gzip is cut or broken, or something follows it.
 */
export async function* gunzip(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let fedBytes = 0
  async function* count(): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      fedBytes += chunk.length
      yield chunk
    }
  }
  const unpack = createGunzip({ chunkSize: CHUNK_BYTES })
  // The error reaches the loop below: pipeline destroys the stream with it.
  pipeline(Readable.from(count(), { objectMode: true }), unpack, () => {})
  try {
    yield* unpack as AsyncIterable<Buffer>
  } catch (error) {
    // The first header was looked at before.
    throw describeError(error, /incorrect header check/.test(String(error)))
  }
  if (unpack.bytesWritten < fedBytes) throw describeError({ code: 'Z_DATA_ERROR' }, true)
}
