import type { ServerResponse } from 'node:http'

/** A reply is handed over in pieces of this size, so that a caller who takes none of it is seen. */
export const PIECE_BYTES = 16_384

/** Hands a body over, each piece once the one before it was taken, and then calls `end`. */
export function sendPieces(response: ServerResponse, body: Uint8Array, end: () => void): void {
  let start = 0
  function goOn(): void {
    while (start < body.length) {
      const piece = body.subarray(start, start + PIECE_BYTES)
      start += piece.length
      if (!response.write(piece) && start < body.length) return void response.once('drain', goOn)
    }
    end()
  }
  goOn()
}
