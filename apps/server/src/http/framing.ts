import type { IncomingMessage } from 'node:http'
import { RequestError } from './request-error.ts'
import { isHost } from './target.ts'

/** More lines than any honest caller sends. */
export const MAX_HEADER_LINES = 200

/** How many lines of a header arrived; Node's own `headers` hide all but the first of some. */
export function countHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const line = rawHeaders[index] ?? ''
    if (line.length === name.length && line.toLowerCase() === name) count++
  }
  return count
}

function malformed(message: string): RequestError {
  return new RequestError('malformed_request', message, { closesConnection: true })
}

/**
 * Refuses what RFC 9112 forbids and Node's parser lets through, but for the target.
 * @throws RequestError, after which the connection is closed: its framing cannot be trusted.
 */
export function checkFraming(request: IncomingMessage): void {
  const { httpVersion, headers } = request
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    throw malformed('the request must be HTTP/1.1 or HTTP/1.0')
  }
  if (request.rawHeaders.length > 2 * MAX_HEADER_LINES) {
    throw new RequestError(
      'headers_too_large',
      `a request may have ${MAX_HEADER_LINES} header lines`,
      { closesConnection: true },
    )
  }
  checkHost(request)
  checkTransferEncoding(request)
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    throw new RequestError('expectation_failed', 'the only expectation met here is 100-continue', {
      closesConnection: true,
    })
  }
}

function checkHost(request: IncomingMessage): void {
  const hosts = countHeader(request, 'host')
  if (hosts > 1 || (hosts === 0 && request.httpVersion === '1.1')) {
    throw malformed('the request must have one Host header')
  }
  if (hosts === 1 && !isHost(request.headers.host ?? '')) {
    throw malformed('the Host header is not valid')
  }
}

/** RFC 9112 §6.1: HTTP/1.0 has no transfer coding, and another than chunked would be taken for JSON. */
function checkTransferEncoding({ headers, httpVersion }: IncomingMessage): void {
  const coding = headers['transfer-encoding']
  if (coding === undefined) return
  if (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked') {
    throw malformed('the only transfer coding here is chunked, in HTTP/1.1')
  }
}
