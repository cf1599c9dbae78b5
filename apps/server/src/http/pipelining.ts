import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'

// Node parses whole reads of a connection, and handles every request in them at once. One caller who
// pipelines could so fill the memory with requests whose responses nobody reads, and hold up all other
// callers for seconds. Here a connection is parsed in small pieces, for a bounded time in each turn of
// the event loop, and not at all while it owes the response to a complete request.

/** How many bytes Node's HTTP parser gets at a time: it cannot be stopped within a piece. */
const PIECE_BYTES = 2_048

/** How long large reads may take in one turn of the event loop, so that others are served in between. */
const TURN_MS = 5

/** Smaller reads are not timed: each costs little, and most creates are one. */
const SMALL_READ_BYTES = 1_024

/** Connections that resume in one turn: there would be no time for more. */
const CONNECTIONS_PER_TURN = 32

/** The end of a header section (RFC 9112 §2.1). */
const SECTION_END = Buffer.from('\r\n\r\n')

export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

const readBuffer = Symbol('read buffer')
const latest = Symbol('latest exchange')
const isClosing = Symbol('is closing')

/** A property costs less per request than a WeakMap does. */
interface PipelinedSocket extends Socket {
  [readBuffer]?: ReadBuffer
  [latest]?: Exchange | undefined
  [isClosing]?: true
}

/** Where a connection calls our code. */
export type Boundary = 'open' | 'read' | 'drain' | 'next request' | 'answer' | 'refusal' | 'pace'

/** Ends a connection because of an exception, and logs that with the place. */
export function endByException(socket: Socket, log: Logger, where: Boundary, err: unknown): void {
  const { remoteAddress } = socket
  socket.destroy()
  log.error({ err, where, remoteAddress }, 'an exception ended a connection')
}

/**
 * Runs a listener of a connection. What it throws ends that connection only; uncaught, it would end
 * the process.
 */
export function contain(socket: Socket, log: Logger, where: Boundary, listen: () => void): void {
  try {
    listen()
  } catch (err) {
    endByException(socket, log, where, err)
  }
}

/** How long large reads have taken in this turn of the event loop, and who waits for the next turn. */
class Turn {
  #spentMs = 0
  #isObserved = false
  #waiting: (() => void)[] = []

  get isOver(): boolean {
    return this.#spentMs > TURN_MS
  }

  spend(work: () => void): void {
    const begin = performance.now()
    work()
    this.#spentMs += performance.now() - begin
    this.#endLater()
  }

  wait(goOn: () => void): void {
    this.#waiting.push(goOn)
    this.#endLater()
  }

  #endLater(): void {
    if (this.#isObserved) return
    this.#isObserved = true
    setImmediate(() => this.#end())
  }

  #end(): void {
    this.#spentMs = 0
    this.#isObserved = false
    const next = this.#waiting.splice(0, CONNECTIONS_PER_TURN)
    if (this.#waiting.length > 0) this.#endLater()
    for (const goOn of next) goOn()
  }
}

/** One for the process, like the event loop. */
const turn = new Turn()

/** Where a piece ends: before the end of a second header section, so that it completes one request at most. */
function pieceEnd(bytes: Buffer, start: number): number {
  const most = Math.min(start + PIECE_BYTES, bytes.length)
  const piece = bytes.subarray(start, most)
  const first = piece.indexOf(SECTION_END)
  const second = first < 0 ? -1 : piece.indexOf(SECTION_END, first + SECTION_END.length)
  return second < 0 ? most : start + second
}

/** The bytes of a connection on their way to the parser. */
class ReadBuffer {
  readonly #socket: PipelinedSocket
  readonly #parse: (bytes: Buffer) => void
  /** Paused by us; whoever else pauses a connection resumes it as well. */
  #isHeld = false

  constructor(socket: PipelinedSocket, parse: (bytes: Buffer) => void) {
    this.#socket = socket
    this.#parse = parse
  }

  take(bytes: Buffer): void {
    this.#isHeld = false
    const isSmall = bytes.length <= SMALL_READ_BYTES
    for (let start = 0; start < bytes.length; ) {
      if (!this.#mayGoOn() || (!isSmall && turn.isOver)) {
        this.#hold(bytes.subarray(start))
        return
      }
      const end = pieceEnd(bytes, start)
      // Without a new view if it is all of them.
      const piece = end - start === bytes.length ? bytes : bytes.subarray(start, end)
      if (isSmall) this.#parse(piece)
      else turn.spend(() => this.#parse(piece))
      start = end
      // A body is not read as fast as it arrives; its reader resumes the connection.
      if (this.#socket.isPaused()) {
        this.#socket.unshift(bytes.subarray(start))
        return
      }
    }
  }

  /** Goes on with what was held. */
  resume(): void {
    const socket = this.#socket
    if (!this.#isHeld || !this.#mayGoOn()) return
    this.#isHeld = false
    socket.resume()
    // In pieces: a flowing stream would take all that is buffered, and read as much again first.
    while (socket.readableLength > 0 && !socket.isPaused()) {
      if (socket.read(Math.min(PIECE_BYTES, socket.readableLength)) === null) return
    }
  }

  /** Not while the response to a complete request is owed, nor while the caller does not read. */
  #mayGoOn(): boolean {
    const socket = this.#socket
    return !socket.writableNeedDrain && socket[latest]?.request.complete !== true
  }

  #hold(rest: Buffer): void {
    // Paused first: otherwise the rest would be emitted again at once.
    this.#socket.pause()
    this.#socket.unshift(rest)
    this.#isHeld = true
    if (this.#mayGoOn()) turn.wait(() => this.resume())
  }
}

/**
 * Gives what connections send to Node's HTTP parser in small pieces: the rest waits in the
 * connection's buffer, at most 64 KiB, and then in the caller's.
 */
export function boundReads(server: Server, log: Logger): void {
  function begin(socket: PipelinedSocket): void {
    const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[]
    if (parse === undefined) throw new TypeError('this Node.js reads connections in another way')
    const buffer = new ReadBuffer(socket, parse)
    socket[readBuffer] = buffer
    socket.off('data', parse)
    // As contain does, without a function for each read.
    socket.on('data', (bytes: Buffer) => {
      try {
        buffer.take(bytes)
      } catch (error) {
        endByException(socket, log, 'read', error)
      }
    })
    socket.on('drain', () => contain(socket, log, 'drain', () => buffer.resume()))
  }
  server.on('connection', (socket: Socket) => contain(socket, log, 'open', () => begin(socket)))
  // Its parser is gone, so what it sends is ignored.
  server.on('connect', (_request, socket: Socket) => void socket.removeAllListeners('data'))
}

/** From now on no request of this connection is handled (RFC 9112 §9.6). */
export function markAsClosing(socket: PipelinedSocket): void {
  socket[isClosing] = true
}

/** The newest exchange of a connection that has not ended, whether its turn has come or not. */
export function latestExchangeOf(socket: PipelinedSocket): Exchange | undefined {
  return socket[latest]
}

/**
 * Forgets an exchange that has ended. If it were kept until the connection's next request, each
 * connection's garbage would survive the collections in between and be copied by them.
 */
function forget(this: ServerResponse): void {
  const { req: request } = this
  const socket: PipelinedSocket = request.socket
  // A body that is still arriving may break the rules; what happens then depends on the response.
  if (!request.complete) request.once('end', () => forget.call(this))
  else if (socket[latest]?.response === this) socket[latest] = undefined
  socket[readBuffer]?.resume()
}

/**
 * Gives pipelined requests to a handler in turn: each waits for the response to the one before it. If
 * that response ends the connection, the request is not handled at all.
 */
export function handleInTurn(handle: RequestListener, log: Logger): RequestListener {
  function handleUnlessAnswered(socket: PipelinedSocket, { request, response }: Exchange): void {
    // After a connection that CONNECT has taken from Node, nothing would ever close this response.
    if (socket.destroyed) return
    if (!socket[isClosing] && !response.headersSent) handle(request, response)
  }

  return (request, response) => {
    const socket: PipelinedSocket = request.socket
    const previous = socket[latest]?.response
    const exchange = { request, response }
    socket[latest] = exchange
    response.on('close', forget)
    const goOn = () => handleUnlessAnswered(socket, exchange)
    if (previous === undefined || previous.writableEnded) goOn()
    else previous.once('close', () => contain(socket, log, 'next request', goOn))
  }
}
