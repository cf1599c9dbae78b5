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
import { RequestError } from './request-error.ts'

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

/** The most memory that is reserved because of a Content-Length alone. */
const MOST_UNSEEN_BYTES = 65_536

const NOTHING = Buffer.alloc(0)

/** A body in one buffer, however small the chunks are in which it arrives. */
class BodyBuffer {
  /** The size of the first buffer that is not the caller's own chunk. */
  readonly #leastBytes: number
  #buffer: Buffer = NOTHING
  #length = 0

  /** `expectedBytes` is the Content-Length, or 0. */
  constructor(expectedBytes: number) {
    this.#leastBytes = Math.min(expectedBytes, MOST_UNSEEN_BYTES)
  }

  get length(): number {
    return this.#length
  }

  add(chunk: Buffer): void {
    // Most bodies arrive in one chunk, and need no copy.
    if (this.#length === 0) this.#buffer = chunk
    else this.#append(chunk)
    this.#length += chunk.length
  }

  #append(chunk: Buffer): void {
    const needed = this.#length + chunk.length
    if (needed > this.#buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(this.#leastBytes, 2 * needed))
      this.#buffer.copy(grown, 0, 0, this.#length)
      this.#buffer = grown
    }
    chunk.copy(this.#buffer, this.#length)
  }

  toBuffer(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }
}

function tooLarge(limitBytes: number): RequestError {
  return new RequestError('body_too_large', `the body must not exceed ${limitBytes} bytes`, {
    closesConnection: true,
  })
}

/**
 * The whole body. `expectedBytes` is the Content-Length, or 0. A promise, because a callback would be
 * called outside of what the request's trace follows.
 * @throws RequestError as soon as it exceeds the limit, CallerGoneError when it never ends.
 */
function collect(
  request: IncomingMessage,
  expectedBytes: number,
  limitBytes: number,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const body = new BodyBuffer(expectedBytes)
    request.on('data', (chunk: Buffer) => {
      if (body.length + chunk.length <= limitBytes) body.add(chunk)
      else reject(tooLarge(limitBytes))
    })
    request.on('end', () => resolve(body.toBuffer()))
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
    const expectedBytes = Number(request.headers['content-length'] ?? 0)
    if (expectedBytes > limitBytes) throw tooLarge(limitBytes)
    // A caller with HTTP/1.0 does not know 100 (RFC 9110 §10.1.1).
    if (request.headers.expect !== undefined && request.httpVersion === '1.1') {
      response.writeContinue()
    }
    const bytes = await collect(request, expectedBytes, limitBytes)
    while (leftInTurn <= 0) await nextTurn()
    takeFromTurn(bytes.length)
    request.body = decode(bytes)
    next()
  }
}
