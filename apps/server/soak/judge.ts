import type { Pressed } from '../test/limits/load/press.ts'
import type { watchMemory } from '../test/limits/load/truth.ts'

export function report(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Memory of the second half beyond that of the first: more would be growth. */
const GROWTH_SHARE = 1.15
const GROWTH_MB = 50

/** Reports a figure beside its bound, and remembers where it does not hold. */
export function judge(what: string, figure: number, bound: number): void {
  const holds = figure <= bound
  if (!holds) process.exitCode = 1
  report(`${holds ? '  holds' : '  FAILS'}  ${what}: ${Math.round(figure)} (at most ${bound})`)
}

export function judgeMemory(memory: ReturnType<typeof watchMemory>): void {
  memory.stop()
  const [first, second] = memory.halves()
  const bound = Math.round(first * GROWTH_SHARE + GROWTH_MB)
  judge(`MB of memory in the second half, after ${Math.round(first)} in the first`, second, bound)
}

export function describeReplies({ replies }: Pressed): string {
  return [...replies].map(([status, count]) => `${count} × ${status}`).join(', ')
}
