import type { IncomingMessage } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  contract,
  decodeJson,
  headerNames,
  JsonSyntaxError,
  type JsonValue,
} from '@plant-store/contract'
import { parse } from 'content-type'
import type { RequestHandler } from 'express'
import { countHeader } from './framing.ts'
import { lastError, RequestError } from './request-error.ts'

/** The caller ended the connection before its body was complete: nobody waits for a response. */
export class CallerGoneError extends Error {
  override name = 'CallerGoneError'
}

function unsupported(message: string, ...headers: string[]): RequestError {
  return new RequestError('unsupported_media_type', message, { headers })
}

const { contentType: MEDIA_TYPE } = contract.createPlant

function isJson(contentType: string): boolean {
  if (contentType === MEDIA_TYPE) return true
  // The parser drops a parameter whose quote is never closed.
  if (contentType.replace(/\\./g, '').split('"').length % 2 === 0) return false
  // The parser keeps the first of several charsets.
  if ((contentType.match(/;\s*charset\s*=/gi)?.length ?? 0) > 1) return false
  const { type, parameters } = parse(contentType)
  return type === MEDIA_TYPE && (parameters.charset ?? 'utf-8').toLowerCase() === 'utf-8'
}

/** @throws RequestError unless the headers announce plain JSON in UTF-8 (RFC 9110 §8.3, §8.4). */
function checkMediaType(request: IncomingMessage): void {
  const name = headerNames.contentType
  const isDoubled = countHeader(request, name) > 1
  if (isDoubled || !isJson(request.headers[name] ?? '')) {
    const message = isDoubled
      ? `the request must have one ${name} header`
      : `the body must be sent with "${name}: ${MEDIA_TYPE}", in UTF-8`
    throw unsupported(message, headerNames.accept, MEDIA_TYPE)
  }
  if (request.headers['content-encoding'] !== undefined) {
    const message = 'the body must be sent without a content-encoding'
    throw unsupported(message, headerNames.acceptEncoding, 'identity')
  }
}

/** Adds a chunk to the `length` bytes of a body: in their buffer, if that has room. */
function append(body: Buffer, length: number, chunk: Buffer): Buffer {
  // Most bodies arrive in one chunk, and need no copy.
  if (length === 0) return chunk
  const needed = length + chunk.length
  const grown = needed <= body.length ? body : Buffer.allocUnsafe(2 * needed)
  if (grown !== body) body.copy(grown, 0, 0, length)
  chunk.copy(grown, length)
  return grown
}

function tooLarge(limitBytes: number): RequestError {
  return lastError('body_too_large', `the body must not exceed ${limitBytes} bytes`)
}

/**
 * The whole body, in one buffer, however small the chunks are in which it arrives. A promise, because
 * a callback would be called outside of what the request's trace follows.
 * @throws RequestError as soon as it exceeds the limit, CallerGoneError when it never ends.
 */
function collect(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let body: Buffer = Buffer.alloc(0)
    let length = 0
    request.on('data', (chunk: Buffer) => {
      if (length + chunk.length > limitBytes) return reject(tooLarge(limitBytes))
      body = append(body, length, chunk)
      length += chunk.length
    })
    request.on('end', () => resolve(body.subarray(0, length)))
    request.on('error', (cause) => {
      reject(new CallerGoneError('the caller ended the connection', { cause }))
    })
    // Now, not at the end of this turn: Node then emits what it parses next without a queue, and has
    // nothing to clean up after the response.
    request.read(0)
  })
}

/** Bytes that are decoded in one turn of the event loop; what is beyond them waits for a later one. */
const TURN_BYTES = 1_048_576

let leftInTurn = TURN_BYTES

function takeFromTurn(byteLength: number): void {
  if (leftInTurn === TURN_BYTES) {
    setImmediate(() => {
      leftInTurn = TURN_BYTES
    })
  }
  leftInTurn -= byteLength
}

function decode(bytes: Buffer): JsonValue {
  try {
    return decodeJson(bytes)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw new RequestError('malformed_json', `body: ${error.message}`, { cause: error })
  }
}

/** Reads the body as JSON into `request.body`, after a check of its media type and length. */
export function readJsonBody(limitBytes: number): RequestHandler {
  return async (request, response, next) => {
    checkMediaType(request)
    if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes)
    // A caller with HTTP/1.0 does not know 100 (RFC 9110 §10.1.1).
    if (request.headers.expect !== undefined && request.httpVersion === '1.1') {
      response.writeContinue()
    }
    const bytes = await collect(request, limitBytes)
    while (leftInTurn <= 0) await nextTurn()
    takeFromTurn(bytes.length)
    request.body = decode(bytes)
    next()
  }
}
