/** A request as it came over the wire. */
export interface ReadRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const HEAD_END = '\r\n\r\n'

function parseHeaders(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
}

/** The body of a chunked message and where it ends, or undefined while it is incomplete. */
function readChunks(bytes: Buffer, start: number): { body: Buffer; end: number } | undefined {
  const chunks: Buffer[] = []
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const length = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    const end = lineEnd + 2 + length + 2
    if (bytes.length < end) return undefined
    if (length === 0) return { body: Buffer.concat(chunks), end }
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + length))
    at = end
  }
}

function readBody(
  bytes: Buffer,
  start: number,
  headers: Readonly<Record<string, string>>,
): { body: Buffer; end: number } | undefined {
  if (headers['transfer-encoding'] !== undefined) return readChunks(bytes, start)
  const end = start + Number(headers['content-length'] ?? 0)
  return bytes.length < end ? undefined : { body: bytes.subarray(start, end), end }
}

/** Gives a function that takes what a socket receives and reports each whole request. */
export function createRequestReader(
  onRequest: (request: ReadRequest) => void,
): (chunk: Buffer) => void {
  let received: Buffer = Buffer.alloc(0)
  return (chunk) => {
    received = Buffer.concat([received, chunk])
    for (;;) {
      const headLength = received.indexOf(HEAD_END)
      if (headLength < 0) return
      const [line = '', ...lines] = received.toString('latin1', 0, headLength).split('\r\n')
      const headers = parseHeaders(lines)
      const whole = readBody(received, headLength + HEAD_END.length, headers)
      if (whole === undefined) return
      received = received.subarray(whole.end)
      const [method = '', path = ''] = line.split(' ')
      onRequest({ method, path, headers, body: whole.body.toString() })
    }
  }
}
