import type { OverviewReply, Series } from '../src/telemetry/overview/reply.ts'
import { span } from './format.ts'

const HOUR_MS = 3_600_000

const LEAST_MS = 300_000

export type Value = number | null

/** The span that is shown, in words. */
export function shownWords(hour: Hour, at: number): string {
  const age = at - (hour.times[0] ?? at)
  return age > HOUR_MS - 60_000 ? 'Last hour' : `Last ${span(age)}`
}

/** The last hour as far as this page has read it. Times are Unix ms by the clock of the server. */
export class Hour {
  times: number[] = []
  #lines = new Map<string, { readonly series: Series; values: Value[] }>()

  /** The span that is shown, in ms: what there is, but five minutes at least and an hour at most. */
  shownMs(at: number): number {
    return Math.min(HOUR_MS, Math.max(LEAST_MS, at - (this.times[0] ?? at)))
  }

  /** The newest sample that was read. */
  get newest(): number {
    return this.times.at(-1) ?? 0
  }

  /** Every line whose metric and kind are these. */
  find(name: string, as: Series['as']): { readonly series: Series; readonly values: Value[] }[] {
    return [...this.#lines.values()].filter(
      ({ series }) => series.name === name && series.as === as,
    )
  }

  /** Adds what a reply has brought, and forgets what is older than an hour. */
  add({ at, times, series, intervalMs }: OverviewReply): void {
    const [first] = times
    // The clock of the server was set back.
    if (this.newest > at) this.#forget(this.times.length)
    // No line is drawn over a time when the server was not there.
    if (first !== undefined && this.newest > 0 && first - this.newest > 2.5 * intervalMs) {
      this.#append([this.newest + 1], [])
    }
    this.#append(times, series)
    this.#forget(this.times.filter((time) => time < at - HOUR_MS).length)
  }

  #append(times: readonly number[], series: readonly Series[]): void {
    const before = this.times.length
    for (const one of series) {
      const key = `${one.name} ${one.as} ${JSON.stringify(one.labels)}`
      const line = this.#lines.get(key) ?? { series: one, values: Array(before).fill(null) }
      line.values.push(...one.values)
      this.#lines.set(key, line)
    }
    this.times.push(...times)
    for (const { values } of this.#lines.values()) {
      while (values.length < this.times.length) values.push(null)
    }
  }

  #forget(count: number): void {
    this.times.splice(0, count)
    for (const { values } of this.#lines.values()) values.splice(0, count)
  }
}
