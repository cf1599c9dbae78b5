import { connect, type Socket } from 'node:net'

/** How long a test waits for the bytes of a reply before it says that none came. */
const PATIENCE_MS = 20_000

/** The same for the end: a connection that lingers is not taken for one that was closed. */
const END_PATIENCE_MS = 5_000

const HEAD_END = '\r\n\r\n'
const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) [\w ]+$/
const HEADER_LINE = /^([!#$%&'*+.^_`|~\w-]+): ?(.*)$/

export type Bytes = string | Uint8Array

/** One HTTP answer as it came over the wire. */
export interface Reply {
  readonly status: number
  /** Lower-case names; one value for each line that came. */
  readonly headers: ReadonlyMap<string, readonly string[]>
  readonly body: string
}

/** A TCP connection whose caller writes every byte by hand. */
export interface Connection {
  /** Text goes out as UTF-8. */
  send(bytes: Bytes): void
  /** Ends the sending side; answers can still be read. */
  finish(): void
  /**
   * The next complete answer.
   * @throws when the bytes are no HTTP answer, or when the connection ended or stayed silent before.
   */
  readReply(options?: { readonly hasBody: boolean }): Promise<Reply>
  /** What came after the last reply that was read, once the server has ended the connection. */
  readToEnd(): Promise<Buffer>
  /** Cuts the connection off with a TCP reset. */
  reset(): void
  destroy(): void
}

interface Taken {
  readonly reply: Reply
  readonly rest: Buffer
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function parseHeaders(lines: readonly string[]): Map<string, string[]> {
  const headers = new Map<string, string[]>()
  for (const line of lines) {
    const [, name = '', value = ''] = HEADER_LINE.exec(line) ?? []
    if (name === '') throw new Error(`not a header line: ${JSON.stringify(line)}`)
    headers.set(name.toLowerCase(), [...(headers.get(name.toLowerCase()) ?? []), value])
  }
  return headers
}

/** Takes the first reply off the bytes, or gives undefined while it is incomplete. */
function takeReply(bytes: Buffer, hasBody: boolean): Taken | undefined {
  const headLength = bytes.indexOf(HEAD_END)
  if (headLength < 0) return undefined
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headLength).split('\r\n')
  const status = Number(STATUS_LINE.exec(statusLine)?.[1])
  if (Number.isNaN(status)) throw new Error(`not a status line: ${JSON.stringify(statusLine)}`)
  const headers = parseHeaders(lines)
  const bodyStart = headLength + HEAD_END.length
  const length = hasBody && status >= 200 ? Number(headers.get('content-length')?.join()) : 0
  if (Number.isNaN(length)) throw new Error(`reply ${status} has no content-length`)
  if (bytes.length < bodyStart + length) return undefined
  const body = utf8.decode(bytes.subarray(bodyStart, bodyStart + length))
  return { reply: { status, headers, body }, rest: bytes.subarray(bodyStart + length) }
}

async function within<Value>(ms: number, promise: Promise<Value>): Promise<Value> {
  const { promise: timeUp, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('the server stayed silent')), ms)
  try {
    return await Promise.race([promise, timeUp])
  } finally {
    clearTimeout(timer)
  }
}

function isReset(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE'].includes(String((error as NodeJS.ErrnoException).code))
}

function createConnection(socket: Socket): Connection {
  const chunks = socket[Symbol.asyncIterator]()
  let received: Buffer = Buffer.alloc(0)
  // A failed write shows in the next read, which is where a test looks.
  socket.on('error', () => {})

  async function receive(patienceMs: number): Promise<boolean> {
    const { done, value } = await within(patienceMs, chunks.next())
    if (done !== true) received = Buffer.concat([received, value])
    return done !== true
  }

  return {
    send: (bytes) => void socket.write(bytes),
    finish: () => void socket.end(),
    async readReply({ hasBody } = { hasBody: true }) {
      for (;;) {
        const taken = takeReply(received, hasBody)
        if (taken !== undefined) {
          received = taken.rest
          return taken.reply
        }
        if (!(await receive(PATIENCE_MS)))
          throw new Error(`the connection ended after: ${received}`)
      }
    },
    async readToEnd() {
      try {
        while (await receive(END_PATIENCE_MS));
      } catch (error) {
        // Closing with unread bytes of the caller resets the connection; that is closed as well.
        if (!isReset(error)) throw error
      }
      return received
    },
    reset: () => void socket.resetAndDestroy(),
    destroy: () => void socket.destroy(),
  }
}

/** Opens a connection to a port of this machine. */
export function openConnection(
  port: number,
  host = '127.0.0.1',
  localAddress?: string,
): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, localAddress, allowHalfOpen: true, noDelay: true })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(createConnection(socket))
    })
  })
}
