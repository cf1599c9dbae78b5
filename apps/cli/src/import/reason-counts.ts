import { formatCount } from './progress.ts'

/** Files that are something else may have a reason of its own on each line. */
const MOST_REASONS = 50

/** Counts what is wrong with rows. */
export class ReasonCounts {
  readonly #counts = new Map<string, number>()

  add(reason: string): void {
    const isKept = this.#counts.has(reason) || this.#counts.size < MOST_REASONS
    const key = isKept ? reason : 'other reasons'
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
  }

  /** A line for each reason, the most frequent first. */
  describe(): string {
    const sorted = [...this.#counts].sort(([, one], [, other]) => other - one)
    const width = formatCount(sorted[0]?.[1] ?? 0).length
    const lines = sorted.map(([reason, count]) => {
      return `  ${formatCount(count).padStart(width)}  ${reason.replaceAll('\n', '\\u000a')}\n`
    })
    return lines.join('')
  }
}
