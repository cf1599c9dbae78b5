import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'

/** What the hostile server has of one request. */
export interface SeenRequest {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** By the clock that all processes share. */
  readonly at: number
  /** Whether the server has stored its plant, whatever it said. */
  isStored?: true
}

/** What is known of a request besides its bytes. */
interface Facts {
  /** The number of the request in its case, from 1; preflights are not counted. */
  readonly attempt: number
  /** ms since the first request of the case. */
  readonly atMs: number
  /** Another origin, where no request should arrive; one that does is seen as the case's. */
  readonly strayUrl: string
  /** Takes no further connections. */
  readonly refuse: () => unknown
}

/** One request and the socket it came on, to be answered byte by byte. */
export function openExchange(socket: Socket, request: SeenRequest, facts: Facts) {
  return {
    ...facts,
    request,
    /** Text goes out as UTF-8. */
    send: (bytes: string) => void (socket.writable && socket.write(bytes)),
    /** Notes that the plant of this request is stored. */
    store() {
      request.isStored = true
    },
    /** Ends the connection in order (FIN). */
    end: () => void socket.end(),
    /** Cuts the connection off (RST). */
    reset: () => void socket.resetAndDestroy(),
    pause: (ms: number) => new Promise((resolve) => setTimeout(resolve, ms)),
  }
}

export type Exchange = ReturnType<typeof openExchange>
export type Script = (exchange: Exchange) => unknown

export const says =
  (bytes: string): Script =>
  ({ send }) =>
    send(bytes)

/** Responds, and ends the connection, so that the next request comes on a fresh one. */
export const saysLast =
  (bytes: string): Script =>
  ({ send, end }) => {
    send(bytes)
    end()
  }

/** One script for each request, in turn; the last serves the rest. */
export const inTurn =
  (...scripts: readonly Script[]): Script =>
  (exchange) =>
    scripts[Math.min(exchange.attempt, scripts.length) - 1]?.(exchange)

export const resets: Script = ({ reset }) => reset()
