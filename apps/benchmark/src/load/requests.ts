import type { Listening } from '../measurement.ts'

/** A request as its bytes, all ASCII, and the body of the right reply. */
export interface PlantRequest {
  readonly text: string
  readonly replyBody: string
}

/** Gives a request for a new plant at each call; `nextId` gives its id as decimal text. */
export function createRequests(
  { port, token }: Listening,
  nextId: () => string,
): () => PlantRequest {
  const head =
    `POST /plants HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\n` +
    'content-type: application/json\r\ncontent-length: '
  let count = 0
  return () => {
    const replyBody = `{"name":"Fern ${100 + (count++ % 900)}","tag":"indoor"}`
    const body = `{"id":${nextId()},${replyBody.slice(1)}`
    return { text: `${head}${body.length}\r\n\r\n${body}`, replyBody }
  }
}
