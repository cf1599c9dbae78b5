import { type ExitCode, exitCodes } from '../exit-codes.ts'
import type { ImportMark } from './journal.ts'
import { countRejected } from './mark.ts'
import { formatCount, formatDuration } from './progress.ts'

/** What became of one file. */
export interface FileSummary {
  readonly file: string
  readonly exitCode: ExitCode
  /** Undefined where no row was looked at. */
  readonly mark?: ImportMark | undefined
  /** Where the rejects are; undefined where there is none. */
  readonly rejects?: string | undefined
  /** Why not all of it is stored; undefined where it is. */
  readonly message?: string | undefined
  /** What to do then. */
  readonly hint?: string | undefined
}

/** `plants.csv: 99,961 stored (1,204 there already), 39 rejected in 0:25`, and a line for each reason. */
export function describeSummary({ file, mark }: FileSummary, isDryRun: boolean): string {
  if (mark === undefined) return ''
  const there = mark.alreadyThere > 0 ? ` (${formatCount(mark.alreadyThere)} there already)` : ''
  const stored = `${formatCount(mark.stored + mark.alreadyThere)} ${isDryRun ? 'plants' : 'stored'}${there}`
  const counts = `${stored}, ${formatCount(countRejected(mark))} rejected`
  const rejected = Object.entries(mark.rejected).sort(([, one], [, other]) => other - one)
  const width = formatCount(rejected[0]?.[1] ?? 0).length
  return [
    `${file}: ${counts} in ${formatDuration(mark.seconds)}`,
    ...rejected.map(([reason, count]) => `  ${formatCount(count).padStart(width)}  ${reason}`),
    '',
  ].join('\n')
}

/** From the best to the worst. */
const ORDER: readonly ExitCode[] = [
  exitCodes.ok,
  exitCodes.rejected,
  exitCodes.tooManyRejects,
  exitCodes.usage,
  exitCodes.unreachable,
  exitCodes.notAllowed,
  exitCodes.failure,
  exitCodes.interrupted,
]

/** The exit code for several files. */
export function worstOf(codes: readonly ExitCode[]): ExitCode {
  return codes.reduce<ExitCode>(
    (worst, code) => (ORDER.indexOf(code) > ORDER.indexOf(worst) ? code : worst),
    exitCodes.ok,
  )
}

/** Whether the next file would fare no better. */
export function concernsEveryFile(code: ExitCode): boolean {
  return ORDER.indexOf(code) >= ORDER.indexOf(exitCodes.unreachable)
}

/** The summary as fields for a program. */
export function toJson({ file, exitCode, mark, rejects, message, hint }: FileSummary) {
  return {
    file,
    exitCode,
    ...(mark === undefined
      ? {}
      : {
          rows: mark.rows,
          stored: mark.stored + mark.alreadyThere,
          alreadyThere: mark.alreadyThere,
          rejected: countRejected(mark),
          reasons: mark.rejected,
          seconds: Math.round(mark.seconds * 1_000) / 1_000,
        }),
    ...(rejects === undefined ? {} : { rejects }),
    ...(message === undefined ? {} : { message }),
    ...(hint === undefined ? {} : { hint }),
  }
}
