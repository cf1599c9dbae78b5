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

/** Gives a function that takes what a socket receives and reports each whole request, whose length it names. */
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
      const start = headLength + HEAD_END.length
      const end = start + Number(headers['content-length'] ?? 0)
      if (received.length < end) return
      const body = received.toString('utf8', start, end)
      received = received.subarray(end)
      const [method = '', path = ''] = line.split(' ')
      onRequest({ method, path, headers, body })
    }
  }
}
