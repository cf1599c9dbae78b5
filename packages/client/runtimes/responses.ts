import type { IncomingHttpHeaders } from 'node:http'

export interface ResponseParts {
  readonly status?: number
  /** Whole header lines, such as `retry-after: 1`. */
  readonly headers?: readonly string[]
  readonly type?: string
  readonly body?: string
  /** The line that frames the body; by default a Content-Length that is true. */
  readonly framing?: string
}

/** The bytes of an HTTP response. A page of another origin may read it, as every case runs in a browser. */
export function response(parts: ResponseParts = {}): string {
  const { status = 200, headers = [], type = 'application/json', body = '' } = parts
  const { framing = `content-length: ${new TextEncoder().encode(body).length}` } = parts
  const head = `HTTP/1.1 ${status} Whatever
content-type: ${type}
access-control-allow-origin: *
access-control-expose-headers: *`.split('\n')
  return `${[...head, ...headers, framing].join('\r\n')}\r\n\r\n${body}`
}

export const STORED_BODY = '{"name":"Fern"}'

/** Of a plant that was stored. */
export function stored(...headers: readonly string[]): string {
  return response({ body: STORED_BODY, headers })
}

/** The service's own refusal that may pass. */
export function unavailable(...headers: readonly string[]): string {
  return response({ status: 503, body: '{"error":50300,"message":"full"}', headers })
}

/** Such as a proxy in front of the service gives. */
export function proxyPage(status: number, ...headers: readonly string[]): string {
  return response({ status, type: 'text/html', body: '<h1>Bad gateway</h1>', headers })
}

/** The connection is closed after it, so that the request itself comes on a fresh one. */
export function preflight(asked: IncomingHttpHeaders): string {
  const allowed = `access-control-allow-headers: ${asked['access-control-request-headers']}`
  const headers = [allowed, 'access-control-allow-methods: *']
  return response({ status: 204, headers, framing: 'connection: close' })
}
