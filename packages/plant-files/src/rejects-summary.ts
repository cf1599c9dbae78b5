import type { RecordProblem } from './plant-record.ts'

/** Counts rejects by their reason, and says which of them are worth a line. */
export interface RejectsSummary {
  /** Counts one; true for the first few, which are shown one by one. */
  add(reason: string): boolean
  /** A line for each reason, the most frequent first, once there were more than those few. */
  describe(): readonly string[]
}

/** The rules that a record broke, without its values: the same for all that broke the same rules. */
export function reasonOf(problems: readonly RecordProblem[]): string {
  return problems
    .map(({ column, message }) => (column === undefined ? message : `${column}: ${message}`))
    .join('; ')
}

const SHOWN = 5

/** Reasons with numbers in them may all differ. */
const MOST_REASONS = 20

const OTHERS = 'other reasons'

export function createRejectsSummary(): RejectsSummary {
  const counts = new Map<string, number>()
  let total = 0
  return {
    add(reason) {
      const key = counts.has(reason) || counts.size < MOST_REASONS ? reason : OTHERS
      counts.set(key, (counts.get(key) ?? 0) + 1)
      return ++total <= SHOWN
    },
    describe() {
      if (total <= SHOWN) return []
      const sorted = [...counts].sort(([, one], [, two]) => two - one)
      return sorted.map(([reason, count]) => `${count.toLocaleString('en-US')} ${reason}`)
    },
  }
}
