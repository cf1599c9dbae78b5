import { Gauge, type Registry } from '@prometheus-io/client'

/** Is notified of the tokens of the store whenever they were read. */
export interface TokenObserver {
  /** When the first token without a successor ends, in Unix ms; undefined where none ends. */
  nextEndIs(time: number | undefined): void
}

/** Shows when callers will be refused unless a token is replaced. */
export function createTokenObserver(registers: Registry[]): TokenObserver {
  let nextEnd: number | undefined
  new Gauge({
    name: 'plant_store_next_token_end_timestamp_seconds',
    help: 'When the first usable token without a successor ends, in Unix time; absent where none ends. Read from the store once an hour.',
    registers,
    collect() {
      if (nextEnd === undefined) this.remove()
      else this.set(nextEnd / 1_000)
    },
  })
  return {
    nextEndIs(time) {
      nextEnd = time
    },
  }
}
