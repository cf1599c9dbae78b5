import { randomFillSync } from 'node:crypto'
import type { Target } from '../measurement.ts'

/** A request as its bytes, all ASCII, and what the body of the right response has. */
export interface PlantRequest {
  readonly text: string
  readonly expected: string
}

/** Gives a fresh uniform int64 as decimal text at each call. */
export function createIds(): () => string {
  const pool = new BigInt64Array(1024)
  let used = pool.length
  return () => {
    if (used === pool.length) {
      randomFillSync(pool)
      used = 0
    }
    return String(pool[used++])
  }
}

/** Gives a request for a new plant at each call. */
export function createRequests(
  { port, path, token, quotesIds }: Target,
  nextId: () => string,
): () => PlantRequest {
  const head =
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\n` +
    'content-type: application/json\r\ncontent-length: '
  const quote = quotesIds ? '"' : ''
  let count = 0
  return () => {
    const expected = `"name":"Fern ${100 + (count++ % 900)}"`
    const body = `{"id":${quote}${nextId()}${quote},${expected},"tag":"indoor"}`
    return { text: `${head}${body.length}\r\n\r\n${body}`, expected }
  }
}
