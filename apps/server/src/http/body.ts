import type { IncomingMessage } from 'node:http'
import { decodeJson, JsonSyntaxError, type JsonValue } from '@plant-store/contract'
import { parse } from 'content-type'
import type { RequestHandler } from 'express'
import { BodyBuffer } from './body-buffer.ts'
import { countHeader } from './framing.ts'
import { RequestError } from './request-error.ts'

/** The caller ended the connection before its body was whole: there is nobody to answer. */
export class CallerGoneError extends Error {
  override name = 'CallerGoneError'
}

function unsupported(message: string, ...headers: string[]): RequestError {
  return new RequestError('unsupported_media_type', message, { headers })
}

function isJson(contentType: string): boolean {
  if (contentType === 'application/json') return true
  // The parser drops a parameter whose quote is never closed.
  if (contentType.replace(/\\./g, '').split('"').length % 2 === 0) return false
  // The parser keeps the first of several charsets.
  if ((contentType.match(/;\s*charset\s*=/gi)?.length ?? 0) > 1) return false
  const { type, parameters } = parse(contentType)
  return type === 'application/json' && (parameters.charset ?? 'utf-8').toLowerCase() === 'utf-8'
}

/** @throws RequestError unless the body is said to be JSON in UTF-8, as it is (RFC 9110 §8.3, §8.4). */
function checkMediaType(request: IncomingMessage): void {
  if (countHeader(request, 'content-type') > 1 || !isJson(request.headers['content-type'] ?? '')) {
    const message = 'the body must be sent with "content-type: application/json", in UTF-8'
    throw unsupported(message, 'accept', 'application/json')
  }
  if (request.headers['content-encoding'] !== undefined) {
    const message = 'the body must be sent without a content-encoding'
    throw unsupported(message, 'accept-encoding', 'identity')
  }
}

function tooLarge(limitBytes: number): RequestError {
  return new RequestError('body_too_large', `the body must not exceed ${limitBytes} bytes`, {
    closesConnection: true,
  })
}

/**
 * The whole body.
 * @throws RequestError as soon as it passes the limit, CallerGoneError when it never ends.
 */
function collect(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const body = new BodyBuffer(Number(request.headers['content-length'] ?? 0))
    request.on('data', (chunk: Buffer) => {
      if (body.length + chunk.length <= limitBytes) body.add(chunk)
      else reject(tooLarge(limitBytes))
    })
    request.on('end', () => resolve(body.toBuffer()))
    request.on('error', (cause) => {
      reject(new CallerGoneError('the caller ended the connection', { cause }))
    })
  })
}

function decode(bytes: Buffer): JsonValue {
  try {
    return decodeJson(bytes)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw new RequestError('malformed_json', `body: ${error.message}`, { cause: error })
  }
}

/** Reads the body as JSON into `request.body`; its media type and length are checked first. */
export function readJsonBody(limitBytes: number): RequestHandler {
  return async (request, response, next) => {
    checkMediaType(request)
    if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes)
    // A caller that speaks HTTP/1.0 does not know 100 (RFC 9110 §10.1.1).
    if (request.headers.expect !== undefined && request.httpVersion === '1.1') {
      response.writeContinue()
    }
    request.body = decode(await collect(request, limitBytes))
    next()
  }
}
