import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type ClientHttp2Session, connect } from 'node:http2'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { temporaryFolder } from '../temporary-folder.ts'

const run = promisify(execFile)

export interface Uploads {
  readonly url: string
  readonly token: string
  readonly bytes: number
  readonly count: number
}

/** How many callers got the same reply, by its status and whole body. */
export type Tally = Readonly<Record<string, number>>

const CALLERS = 4
const PIECE = Buffer.alloc(65_536, ' ')

function countOf(results: readonly string[]): Tally {
  const tally: Record<string, number> = {}
  for (const result of results) tally[result] = (tally[result] ?? 0) + 1
  return tally
}

/** Uploads of 4 callers at a time. */
async function inParallel(
  count: number,
  uploadSome: (caller: number, count: number) => Promise<readonly string[]>,
): Promise<Tally> {
  const callers = Array.from({ length: CALLERS }, (_, caller) => caller)
  return countOf((await Promise.all(callers.map((one) => uploadSome(one, count / CALLERS)))).flat())
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Sends a body `count` times over HTTP/1.1, by curl, without asking whether it is wanted. */
export function uploadOverHttp1(uploads: Uploads, expectation = 'Expect:'): Promise<Tally> {
  const folder = temporaryFolder()
  const body = join(folder, 'body')
  writeFileSync(body, Buffer.alloc(uploads.bytes, ' '))
  return inParallel(uploads.count, async (caller, count) => {
    const out = join(folder, `out-${caller}-`)
    const args = [
      ...['--silent', '--insecure', '--http1.1', '--max-time', '60', '--header', expectation],
      ...['--header', `Authorization: Bearer ${uploads.token}`],
      ...['--header', 'Content-Type: application/json', '--data-binary', `@${body}`],
      ...['--write-out', '%{http_code}\\n', '--output', `${out}#1`],
      `${uploads.url}/plants?[1-${count}]`,
    ]
    // Curl fails where it could not send the whole body; what counts is the reply it got.
    const { stdout } = await run('curl', args).catch((error) => error)
    const statuses = String(stdout).trim().split('\n')
    return statuses.map((status, index) => `${status} ${readText(`${out}${index + 1}`)}`)
  })
}

function uploadOnce(session: ClientHttp2Session, { token, bytes }: Uploads): Promise<string> {
  const request = session.request({
    ':method': 'POST',
    ':path': '/plants',
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': bytes,
  })
  // That the server wants no more of the body (RFC 9113 §8.1) is an error for the writing side alone.
  request.on('error', () => {})
  Readable.from(Array<Buffer>(bytes / PIECE.length).fill(PIECE))
    .on('error', () => {})
    .pipe(request)
  return new Promise((resolve) => {
    let status = 0
    let length = Number.POSITIVE_INFINITY
    let body = ''
    const finish = () => resolve(`${status} ${body}`)
    request.on('response', (headers) => {
      status = headers[':status'] ?? 0
      length = Number(headers['content-length'])
    })
    request.on('data', (chunk) => {
      body += chunk
      if (body.length >= length) finish()
    })
    request.once('close', finish)
    session.once('close', finish)
  })
}

/**
 * Sends a body `count` times over HTTP/2, on a connection each. Not by curl: up to 7.88, at least, it
 * throws a whole reply away when RST_STREAM comes with it, which RFC 9113 §8.1 forbids.
 */
export function uploadOverHttp2(uploads: Uploads): Promise<Tally> {
  return inParallel(uploads.count, async (_caller, count) => {
    const tally: string[] = []
    for (let sent = 0; sent < count; sent++) {
      const session = connect(uploads.url, { rejectUnauthorized: false })
      session.on('error', () => {})
      tally.push(await uploadOnce(session, uploads))
      session.destroy()
    }
    return tally
  })
}

/** Sends one plant over HTTP/2 on a connection of its own and gives the status of the reply. */
export async function createOverHttp2(url: string, token: string, body: string): Promise<number> {
  const session = connect(url, { rejectUnauthorized: false })
  const request = session.request({
    ':method': 'POST',
    ':path': '/plants',
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
  })
  request.end(body)
  const [headers] = await once(request, 'response')
  request.resume()
  await once(request, 'end')
  session.destroy()
  return headers[':status']
}
