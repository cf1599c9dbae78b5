import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** Connections that send these bytes and read nothing. */
export interface Held {
  readonly port: number
  readonly connections: number
  readonly bytes: Buffer
}

/** Opens them from a separate process, so that they cost this one nothing; returns how to end them. */
export async function holdConnections(held: Held): Promise<() => void> {
  const child = fork(join(import.meta.dirname, 'hold.ts'), { serialization: 'advanced' })
  child.send(held)
  await once(child, 'message')
  return () => void child.kill('SIGKILL')
}

/** A body of spaces that never ends, in chunks of one byte. */
export function bodyInChunks(token: string, count: number): Buffer {
  const bearer = `Host: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`
  const head = `POST /plants HTTP/1.1\r\n${bearer}Transfer-Encoding: chunked\r\n\r\n`
  return Buffer.from(head + '1\r\n \r\n'.repeat(count))
}

/** A request without a token. */
export const STRANGER = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

/** What costs a server most on one connection, by name; `token` is good, and `page` is public. */
export function hostileBytes(token: string, page: string): Readonly<Record<string, Buffer>> {
  const bearer = `Host: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`
  // Together longer than the kernel's buffers on both sides, so that the server notices.
  const unread = `GET ${page} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(256)
  const plant = '{"id":1,"name":"Fern"}'
  const create = `POST /plants HTTP/1.1\r\n${bearer}Content-Length: ${plant.length}\r\n\r\n${plant}`
  const chunked = String(bodyInChunks(token, 20_000))
  const texts = {
    'requests behind replies that it does not read': unread + STRANGER.repeat(4_800),
    'requests without a token': STRANGER.repeat(5_000),
    'requests of HTTP/1.0 that keep alive':
      'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'.repeat(3_000),
    creates: create.repeat(600),
    'a body in chunks of one byte': chunked,
    'a body in chunks of one byte behind replies that it does not read': unread + chunked,
    'a header of 3,900 lines without an end': `GET / HTTP/1.1\r\nHost: x\r\n${'a:\r\n'.repeat(3_900)}`,
    'one long line of a header without an end': `GET / HTTP/1.1\r\nHost: x\r\nx: ${'a'.repeat(16_000)}`,
  }
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, Buffer.from(text, 'latin1')]),
  )
}
