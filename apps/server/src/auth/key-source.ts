import { readSmallFile } from '../process/read-small-file.ts'

/** Some hundred keys. */
const MOST_BYTES = 262_144

const TIMEOUT_MS = 5_000

/** Where the keys of an issuer are published. */
export interface KeySource {
  /** For people: the address without its query, or the path. */
  readonly description: string
  /**
   * The text that is there now, at most 256 KiB.
   * @throws Error with the reason in its message, which holds nothing of what was read.
   */
  read(): Promise<string>
}

async function readBounded(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const read: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    // Leaving the loop ends the connection.
    if (bytes > MOST_BYTES) throw new Error(`it is longer than ${MOST_BYTES} bytes`)
    read.push(chunk)
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(read))
}

async function fetchText(url: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(url, {
    signal,
    // A redirect would let whoever can make the issuer redirect choose the keys.
    redirect: 'manual',
    headers: { accept: 'application/jwk-set+json, application/json' },
  })
  if (response.status === 200 && response.body !== null) return readBounded(response.body)
  await response.body?.cancel()
  throw new Error(`it responds ${response.status}`)
}

/** Reads keys over HTTP, within 5 s by default; `stop` aborts a read. */
export function keysFromUrl(
  url: string,
  { stop, timeoutMs = TIMEOUT_MS }: { readonly stop: AbortSignal; readonly timeoutMs?: number },
): KeySource {
  const { origin, pathname } = new URL(url)
  return {
    description: origin + pathname,
    async read() {
      const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), stop])
      try {
        return await fetchText(url, signal)
      } catch (error) {
        // What fetch throws says "fetch failed", and why in its cause.
        const { message, cause } = error as Error
        throw new Error(cause instanceof Error ? cause.message : message, { cause: error })
      }
    },
  }
}

/** Reads keys from a file. */
export function keysFromFile(path: string): KeySource {
  return {
    description: path,
    read: async () => readSmallFile(path, MOST_BYTES),
  }
}
