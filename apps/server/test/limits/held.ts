import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** Connections that send this text and read nothing, or send on at full speed. */
export interface Held {
  readonly port: number
  readonly connections: number
  readonly text: string
  readonly sendsOn?: boolean
}

/** Opens them from a separate process, so that they cost this one nothing; returns how to end them. */
export async function holdConnections(held: Held): Promise<() => void> {
  const child = fork(join(import.meta.dirname, 'hold.ts'), { serialization: 'advanced' })
  child.send(held)
  await once(child, 'message')
  return () => void child.kill('SIGKILL')
}

/** The head of a create with a good token, up to what frames its body. */
function headOf(token: string): string {
  const bearer = `Host: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`
  return `POST /plants HTTP/1.1\r\n${bearer}`
}

/** A create, whose body may be cut off. */
export function create(token: string, body: string): string {
  return `${headOf(token)}Content-Length: ${body.length}\r\n\r\n${body}`
}

/** A body of spaces that never ends, in chunks of one byte. */
export function bodyInChunks(token: string, count: number): string {
  return `${headOf(token)}Transfer-Encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(count)}`
}

/** A request without a token. */
export const STRANGER = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

/** What anybody may read. */
export const READING = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'

/** What costs a server most on one connection, by name; `token` is good. */
export function hostileTexts(token: string) {
  // Together longer than the kernel's buffers on both sides, so that the server notices.
  const unread = READING.repeat(256)
  const chunked = bodyInChunks(token, 20_000)
  return {
    'requests behind responses that it does not read': unread + STRANGER.repeat(4_800),
    'requests without a token': STRANGER.repeat(5_000),
    'requests of HTTP/1.0 that keep alive':
      'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'.repeat(3_000),
    creates: create(token, '{"id":1,"name":"Fern"}').repeat(600),
    'a body in chunks of one byte': chunked,
    'a body in chunks of one byte behind responses that it does not read': unread + chunked,
    'a header of 3,900 lines without an end': `GET / HTTP/1.1\r\nHost: x\r\n${'a:\r\n'.repeat(3_900)}`,
    'one long line of a header without an end': `GET / HTTP/1.1\r\nHost: x\r\nx: ${'a'.repeat(16_000)}`,
  }
}
