import type { Labels, Measured } from '../metrics/measured.ts'

/** An hour of samples, and the one before it, with which the first is compared. */
export const SAMPLES = 361

/** Together with the times 743 kB; a server has about 100. */
export const MOST_COLUMNS = 256

/** The values of one measure, in a ring. */
export interface Column {
  readonly name: string
  readonly labels: Labels
  /** By Samples.slotOf; NaN where it was not measured. */
  readonly ring: Float64Array
}

/** The last samples of many measures, in memory whose size has a bound. */
export class History {
  readonly #times = new Float64Array(SAMPLES)
  readonly #columns = new Map<string, Column>()
  #taken = 0

  /** How many samples there are. */
  get length(): number {
    return Math.min(this.#taken, SAMPLES)
  }

  get columns(): Iterable<Column> {
    return this.#columns.values()
  }

  /** The place in a ring of a sample, of which 0 is the oldest. */
  slotOf(index: number): number {
    return (this.#taken - this.length + index) % SAMPLES
  }

  timeOf(index: number): number {
    return this.#times[this.slotOf(index)] as number
  }

  /** Adds a sample in place of the oldest. Measures beyond MOST_COLUMNS are left out. */
  add(time: number, sample: Iterable<Measured>): void {
    // A clock that was set back: what was before has no place on the axis of time.
    if (this.length > 0 && time <= this.timeOf(this.length - 1)) this.#taken = 0
    const slot = this.#taken % SAMPLES
    this.#times[slot] = time
    for (const { ring } of this.#columns.values()) ring[slot] = Number.NaN
    for (const measured of sample) {
      const column = this.#columnOf(measured)
      if (column !== undefined) column.ring[slot] = measured.value
    }
    this.#taken += 1
  }

  #columnOf({ name, labels }: Measured): Column | undefined {
    const key = name + JSON.stringify(labels)
    const known = this.#columns.get(key)
    if (known !== undefined || this.#columns.size === MOST_COLUMNS) return known
    const column = { name, labels, ring: new Float64Array(SAMPLES).fill(Number.NaN) }
    this.#columns.set(key, column)
    return column
  }
}
