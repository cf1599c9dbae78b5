import type { ImportMark } from './journal.ts'
import type { FinishedRow } from './row-window.ts'

/** The mark of an import that has not begun. */
export const NO_MARK: ImportMark = {
  rows: 0,
  line: 0,
  digest: '',
  rejectsBytes: 0,
  stored: 0,
  alreadyThere: 0,
  rejected: {},
  seconds: 0,
}

/** How many reasons are counted by themselves. */
const MOST_REASONS = 20
const OTHER_REASONS = 'other reasons'

/** Counts a reject under its reason; when there are many reasons, under others. */
export function countReason(reasons: Record<string, number>, reason: string): void {
  const isNew = reasons[reason] === undefined && Object.keys(reasons).length >= MOST_REASONS
  const name = isNew ? OTHER_REASONS : reason
  reasons[name] = (reasons[name] ?? 0) + 1
}

/** The mark behind these rows too, apart from what is on the disk and the digest. */
export function addRows(mark: ImportMark, rows: readonly FinishedRow[]): ImportMark {
  const counts = { stored: mark.stored, alreadyThere: mark.alreadyThere }
  const rejected = { ...mark.rejected }
  for (const { result } of rows) {
    if (result.type === 'rejected') countReason(rejected, result.reason)
    else counts[result.type]++
  }
  const line = rows.at(-1)?.record.line ?? mark.line
  return { ...mark, ...counts, rejected, line, rows: mark.rows + rows.length }
}

/** How many rows were rejected. */
export function countRejected({ rejected }: Pick<ImportMark, 'rejected'>): number {
  return Object.values(rejected).reduce((sum, count) => sum + count, 0)
}
