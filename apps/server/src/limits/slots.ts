import type { ServerResponse } from 'node:http'

/** Places for requests that are in flight, each held until its reply has left or its caller is gone. */
export class Slots {
  readonly #most: number
  #taken = 0
  readonly #leave = (): void => {
    this.#taken--
  }

  constructor(most: number) {
    this.#most = most
  }

  /** Takes a place for a request, by its response; false where none is left. */
  take(response: ServerResponse): boolean {
    if (this.#taken >= this.#most) return false
    this.#taken++
    response.on('close', this.#leave)
    return true
  }
}
