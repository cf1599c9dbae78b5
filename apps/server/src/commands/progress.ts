import type { CopyOptions } from '../store/engine.ts'
import { printableLine } from '../text/printable.ts'
import { describeStop, describeUncreatable } from './failures.ts'
import type { Terminal } from './terminal.ts'

/** What a command has done since `startedAt`, by performance.now(). */
export interface Work {
  readonly startedAt: number
  readonly count: number
  readonly bytes: number
}

/** How often a person sees how far it is, and how often a file does. */
const DRAWN_MS = 200
const PLAIN_MS = 10_000

/** To the start of the line, and clear it (ECMA-48 EL). */
const CLEAR_LINE = '\r\u001b[K'

const rough = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 2 })
const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

/** `3.2 s`, `75 min` */
export function describeDuration(ms: number): string {
  return ms < 100_000 ? `${rough.format(ms / 1_000)} s` : `${whole.format(ms / 60_000)} min`
}

/** Shows how far a command is, until the return value is called: as one line that changes, on a terminal. */
export function startProgress(terminal: Terminal, describe: () => string): () => void {
  const { err, draw, isInteractive, columns } = terminal
  function show(): void {
    // Some terminals wrap when the last column is written.
    const room = Math.max((columns() ?? 80) - 1, 1)
    if (isInteractive) draw(CLEAR_LINE + printableLine(describe()).slice(0, room))
    else err(`${describe()}\n`)
  }
  const timer = setInterval(show, isInteractive ? DRAWN_MS : PLAIN_MS).unref()
  return () => {
    clearInterval(timer)
    if (isInteractive) draw(CLEAR_LINE)
  }
}

/**
 * Shows how far the copy of a source to a target is while `work` makes it.
 * @throws CommandError where a signal stops it, with the consequence, or the target cannot be made.
 */
export async function copyWithProgress<Result>(
  terminal: Terminal,
  { source, target, consequence }: Readonly<Record<'source' | 'target' | 'consequence', string>>,
  work: (options: CopyOptions) => Promise<Result>,
): Promise<Result> {
  let percent = 0
  const onProgress = (fraction: number) => {
    percent = Math.floor(Math.min(fraction, 1) * 100)
  }
  const end = startProgress(terminal, () => `${percent} % of ${source} copied`)
  try {
    return await work({ signal: terminal.stop, onProgress })
  } catch (error) {
    throw describeUncreatable(describeStop(error, terminal, consequence), target)
  } finally {
    end()
  }
}

/** `63 MB in 3.2 s, 312,500 a second`; the rate not in the first tenth of a second, which says nothing. */
export function describePace({ startedAt, count, bytes }: Work): string {
  const ms = performance.now() - startedAt
  const rate = ms < 100 ? '' : `, ${whole.format((count * 1_000) / ms)} a second`
  return `${rough.format(bytes / 1e6)} MB in ${describeDuration(ms)}${rate}`
}
