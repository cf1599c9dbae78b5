import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** How long a test waits for the bytes of a response before it says that none came. */
const PATIENCE_MS = 20_000

/** The same for the end: a connection that lingers is not taken for one that was closed. */
const END_PATIENCE_MS = 5_000

/** The head of a response: its status, and the lines of its headers. */
const HEAD = /^HTTP\/1\.1 (\d{3}) [\w ]+\r\n((?:[!#$%&'*+.^_`|~\w-]+: ?.*\r\n)*)\r\n/

export type Bytes = string | Uint8Array

/** One HTTP response as it came over the wire. */
export interface Reply {
  readonly status: number
  /** Lower-case names; one value for each line that came. */
  readonly headers: ReadonlyMap<string, readonly string[]>
  readonly body: string
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Takes the first response off the bytes, or gives undefined while it is incomplete. */
function takeReply(bytes: Buffer, hasBody: boolean) {
  const text = bytes.toString('latin1')
  if (!text.includes('\r\n\r\n')) return undefined
  const [head = '', code, lines = ''] = HEAD.exec(text) ?? []
  if (code === undefined) throw new Error(`no response: ${JSON.stringify(text)}`)
  const headers = new Map<string, string[]>()
  for (const [, name = '', value = ''] of lines.matchAll(/^(.+?): ?(.*)$/gm)) {
    headers.set(name.toLowerCase(), [...(headers.get(name.toLowerCase()) ?? []), value])
  }
  const status = Number(code)
  const length = hasBody && status >= 200 ? Number(headers.get('content-length')?.join()) : 0
  if (Number.isNaN(length)) throw new Error(`${status} has no content-length`)
  const end = head.length + length
  if (bytes.length < end) return undefined
  const reply: Reply = { status, headers, body: utf8.decode(bytes.subarray(head.length, end)) }
  return { reply, end }
}

async function within<Value>(ms: number, promise: Promise<Value>): Promise<Value> {
  const { promise: timeUp, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('the server stayed silent')), ms)
  return Promise.race([promise, timeUp]).finally(() => clearTimeout(timer))
}

function createConnection(socket: Socket) {
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
    /** Text goes out as UTF-8. */
    send: (bytes: Bytes) => void socket.write(bytes),
    /** Ends the sending side; responses can still be read. */
    finish: () => void socket.end(),
    /**
     * The next complete response.
     * @throws when the bytes are none, or when the connection ended or stayed silent before.
     */
    async readReply({ hasBody } = { hasBody: true }): Promise<Reply> {
      let taken = takeReply(received, hasBody)
      for (; taken === undefined; taken = takeReply(received, hasBody)) {
        if (!(await receive(PATIENCE_MS))) throw new Error(`it ended after: ${received}`)
      }
      received = received.subarray(taken.end)
      return taken.reply
    },
    /** What came after the last response that was read, once the server has ended the connection. */
    async readToEnd(): Promise<Buffer> {
      try {
        while (await receive(END_PATIENCE_MS));
      } catch (error) {
        // Closing with unread bytes of the caller resets the connection; that is closed as well.
        if (!/ECONNRESET|EPIPE/.test(String((error as NodeJS.ErrnoException).code))) throw error
      }
      return received
    },
    /** Cuts the connection off with a TCP reset. */
    reset: () => void socket.resetAndDestroy(),
    destroy: () => void socket.destroy(),
  }
}

/** A TCP connection whose caller writes every byte by hand. */
export type Connection = ReturnType<typeof createConnection>

/** Opens a connection to a port of this machine, from another of its addresses if that is given. */
export async function openConnection(port: number, localAddress?: string): Promise<Connection> {
  const options = { allowHalfOpen: true, noDelay: true, localAddress }
  const socket = connect({ host: '127.0.0.1', port, ...options })
  await once(socket, 'connect')
  return createConnection(socket)
}
