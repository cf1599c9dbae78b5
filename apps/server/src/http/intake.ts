import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import { contain, endByException } from './contain.ts'

/**
 * How many bytes Node's HTTP parser gets at a time. It cannot be stopped within a piece, and one read
 * of a connection may hold 64 KiB: 2,500 requests, or 10,000 chunks of a body.
 */
const PIECE_BYTES = 2_048

/** How long large reads may take in one turn of the event loop, so that others are served in between. */
const TURN_MS = 5

/** Smaller reads are not timed: each costs little, and most creates are one. */
const SMALL_READ_BYTES = 1_024

/** Connections that resume in one turn: there would be no time for more. */
const CONNECTIONS_PER_TURN = 32

/** The end of a header section (RFC 9112 §2.1). */
const SECTION_END = Buffer.from('\r\n\r\n')

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
    const next = this.#waiting.slice(0, CONNECTIONS_PER_TURN)
    this.#waiting = this.#waiting.slice(CONNECTIONS_PER_TURN)
    if (this.#waiting.length > 0) this.#endLater()
    for (const goOn of next) goOn()
  }
}

/** One for the thread, like the event loop. */
const turn = new Turn()

const intake = Symbol('intake')

interface IntakeSocket extends Socket {
  [intake]?: Intake
}

/** A part of bytes, without a new view if it is all of them. */
function part(bytes: Buffer, start: number, end: number): Buffer {
  return start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end)
}

/** Where a piece ends: before the end of a second header section, so that it completes one request at most. */
function pieceEnd(bytes: Buffer, start: number): number {
  const most = Math.min(start + PIECE_BYTES, bytes.length)
  const piece = part(bytes, start, most)
  const first = piece.indexOf(SECTION_END)
  const second = first < 0 ? -1 : piece.indexOf(SECTION_END, first + SECTION_END.length)
  return second < 0 ? most : start + second
}

/** The bytes of a connection on their way to the parser. */
class Intake {
  readonly #socket: Socket
  readonly #parse: (bytes: Buffer) => void
  readonly #isFull: (socket: Socket) => boolean
  /** Paused by us; whoever else pauses a connection resumes it as well. */
  #isHeld = false

  constructor(socket: Socket, parse: (bytes: Buffer) => void, isFull: (socket: Socket) => boolean) {
    this.#socket = socket
    this.#parse = parse
    this.#isFull = isFull
  }

  take(bytes: Buffer): void {
    this.#isHeld = false
    const isSmall = bytes.length <= SMALL_READ_BYTES
    for (let start = 0; start < bytes.length; ) {
      const end = pieceEnd(bytes, start)
      const piece = part(bytes, start, end)
      if (!this.#mayGoOn() || (!isSmall && turn.isOver)) {
        this.#hold(bytes.subarray(start))
        return
      }
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

  /** Node's own server must get nothing while the caller does not read. */
  #mayGoOn(): boolean {
    return !this.#socket.writableNeedDrain && !this.#isFull(this.#socket)
  }

  #hold(rest: Buffer): void {
    // Paused first: otherwise the rest would be emitted again at once.
    this.#socket.pause()
    this.#socket.unshift(rest)
    this.#isHeld = true
    if (this.#mayGoOn()) turn.wait(() => this.resume())
  }
}

/** Resumes a connection that was held because it was full. */
export function resumeIntake(socket: IntakeSocket): void {
  socket[intake]?.resume()
}

/**
 * Gives what connections send to Node's HTTP parser in small pieces, and nothing while `isFull` or
 * while the caller does not read: the rest waits in the connection's buffer, at most 64 KiB, and
 * then in the caller's. Call `resumeIntake` when a connection is no longer full.
 */
export function boundIntake(
  server: Server,
  isFull: (socket: Socket) => boolean,
  log: Logger,
): void {
  function begin(socket: IntakeSocket): void {
    const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[]
    if (parse === undefined) throw new TypeError('this Node.js reads connections in another way')
    const state = new Intake(socket, parse, isFull)
    socket[intake] = state
    socket.off('data', parse)
    // As contain does, without a function for each read.
    socket.on('data', (bytes: Buffer) => {
      try {
        state.take(bytes)
      } catch (error) {
        endByException(socket, log, 'read', error)
      }
    })
    socket.on('drain', () => contain(socket, log, 'drain', () => state.resume()))
  }
  server.on('connection', (socket: Socket) => contain(socket, log, 'open', () => begin(socket)))
  // Its parser is gone, so what it sends is ignored.
  server.on('connect', (_request, socket: Socket) => void socket.removeAllListeners('data'))
}
