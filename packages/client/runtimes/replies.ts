/** Let a page of another origin read the reply, so that every case can run in a browser. */
const CROSS_ORIGIN = [
  'access-control-allow-origin: *',
  'access-control-expose-headers: retry-after, x-request-id',
]

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  204: 'No Content',
  400: 'Bad Request',
}

export interface ReplyParts {
  readonly status?: number
  /** Whole header lines, such as `retry-after: 1`; they come after those for other origins. */
  readonly headers?: readonly string[]
  readonly type?: string
  readonly body?: string
  /** The line that frames the body; by default a Content-Length that is true, null for none. */
  readonly framing?: string | null
}

/** The bytes of an HTTP reply. */
export function reply(parts: ReplyParts = {}): string {
  const { status = 200, headers = [], type = 'application/json', body = '' } = parts
  const length = `content-length: ${new TextEncoder().encode(body).length}`
  const framing = parts.framing === undefined ? length : parts.framing
  const lines = [
    `HTTP/1.1 ${status} ${REASONS[status] ?? 'Whatever'}`,
    `content-type: ${type}`,
    ...CROSS_ORIGIN,
    ...headers,
    ...(framing === null ? [] : [framing]),
  ]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

export const STORED_BODY = '{"name":"Fern"}'

/** The reply to a plant that was stored. */
export function stored(headers: readonly string[] = []): string {
  return reply({ body: STORED_BODY, headers })
}

/** An Error reply of the service; the status is that of the code. */
export function refused(error: number, message: string, headers: readonly string[] = []): string {
  const body = JSON.stringify({ error, message })
  return reply({ status: Math.floor(error / 100), body, headers })
}

export function unavailable(...headers: readonly string[]): string {
  return refused(50300, 'the queue is full', headers)
}

/** A page such as a proxy in front of the service gives. */
export function proxyPage(status: number, text = 'Bad gateway'): string {
  return reply({ status, type: 'text/html', body: `<!doctype html><h1>${text}</h1>` })
}

/** The connection is to be closed after it, so that the request itself comes on a fresh one. */
export function preflightReply(asked: string): string {
  const headers = [
    'access-control-allow-methods: *',
    `access-control-allow-headers: ${asked}`,
    'access-control-max-age: 600',
    'connection: close',
  ]
  return reply({ status: 204, headers, framing: null })
}
