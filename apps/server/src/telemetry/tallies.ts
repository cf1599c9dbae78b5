import {
  Counter,
  Gauge,
  type MetricObjectWithValues,
  type MetricValue,
  type Registry,
} from '@prometheus-io/client'

type Labels = Readonly<Partial<Record<string, string | number>>>

/** A metric with its values, as the registry gives it. */
type Reading = MetricObjectWithValues<MetricValue<string>>

/**
 * Upper bounds in seconds, from a commit on a fast disk (0.1 ms) to the time after which callers
 * give up. With three to four steps a decade a percentile is within a third of its true value.
 */
export const DURATION_BUCKETS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]

type Read = () => number | undefined | Promise<number | undefined>

/** A gauge that is read at each scrape; left out where it cannot be read, which must not hide others. */
export function addGauge(registers: Registry[], name: string, help: string, read: Read): void {
  new Gauge({
    name,
    help,
    registers,
    async collect() {
      const value = await Promise.resolve()
        .then(read)
        .catch(() => undefined)
      if (value === undefined) this.remove()
      else this.set(value)
    },
  })
}

// The library looks each series up by its labels whenever it counts: too dear for what every create
// counts. Here it is a number in memory, and the library reads it at a scrape.

export interface TallyOptions {
  readonly name: string
  readonly help: string
  readonly registers: Registry[]
}

/** Counts by one label. Every value of it is a series from the start, so that a rate sees the first increase. */
export function createTally<Value extends string>(
  label: string,
  values: readonly Value[],
  options: TallyOptions,
): (value: Value) => void {
  const cells = new Map(values.map((value) => [value, { count: 0 }]))
  new Counter({
    ...options,
    labelNames: [label],
    collect() {
      this.reset()
      for (const [value, { count }] of cells) this.inc({ [label]: value }, count)
    },
  })
  return (value) => {
    const cell = cells.get(value)
    if (cell !== undefined) cell.count++
  }
}

/** How often values were observed, by upper bounds in rising order. */
export class Distribution {
  readonly #bounds: readonly number[]
  readonly #labels: Labels
  /** For each bound, and beyond the last. */
  readonly #counts: number[]
  #sum = 0

  constructor(bounds: readonly number[], labels: Labels = {}) {
    this.#bounds = bounds
    this.#labels = labels
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  get count(): number {
    return this.#counts.reduce((sum, count) => sum + count, 0)
  }

  observe(value: number): void {
    const bounds = this.#bounds
    let index = 0
    while (index < bounds.length && value > (bounds[index] as number)) index++
    ;(this.#counts[index] as number)++
    this.#sum += value
  }

  /** The series of a histogram of this name. */
  read(name: string): Reading['values'] {
    const labels = this.#labels
    let count = 0
    const buckets = this.#counts.map((inBucket, index) => {
      count += inBucket
      const le = this.#bounds[index] ?? '+Inf'
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count }
    })
    const sum = { metricName: `${name}_sum`, labels, value: this.#sum }
    return [...buckets, sum, { metricName: `${name}_count`, labels, value: count }]
  }
}

/** Shows distributions as one histogram: at a scrape the registry asks for nothing but `get`. */
export class Tallies extends Gauge<string> {
  readonly #options: TallyOptions
  readonly #read: () => readonly Distribution[]

  constructor(options: TallyOptions, read: () => readonly Distribution[]) {
    super(options)
    this.#options = options
    this.#read = read
  }

  override async get(): Promise<Reading> {
    const { name, help } = this.#options
    const values = this.#read().flatMap((one) => one.read(name))
    return { name, help, type: 'histogram', aggregator: 'sum', values } as Reading
  }
}

/** A histogram without labels. */
export function createDistribution(
  bounds: readonly number[],
  options: TallyOptions,
): (value: number) => void {
  const distribution = new Distribution(bounds)
  new Tallies(options, () => [distribution])
  return (value) => distribution.observe(value)
}
