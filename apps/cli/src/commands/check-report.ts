import type { PlantRecord, RecordProblem } from '@plant-store/plant-files'

/** Files that are something else may have a problem of its own on each line. */
const MOST_KINDS = 50

/** Counts the rows of a file, and shows what is wrong with the first ones that are no plants. */
export interface CheckReport {
  add(record: PlantRecord): void
  /** Shows the counts. Returns whether every row is a plant. */
  end(): boolean
}

function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}

function be(count: number): string {
  return count === 1 ? 'is' : 'are'
}

/** `ID (column 1)`, `id`, or nothing where the whole row is meant */
function describePlace({ column, columnNumber }: RecordProblem): string {
  if (column === undefined) return ''
  return columnNumber === undefined ? `${column}: ` : `${column} (column ${columnNumber}): `
}

function describeProblem(problem: RecordProblem): string {
  const { message, value } = problem
  const shown = value === undefined ? '' : `${value} `
  return `${describePlace(problem)}${shown}${message}`
}

/** Line breaks stand in names of files, too. */
function writeLine(out: (text: string) => void, text: string): void {
  out(`${text.replaceAll('\n', '\\u000a')}\n`)
}

/** A report of the file `name` that shows `shown` problems at most. */
export function createCheckReport(
  name: string,
  shown: number,
  out: (text: string) => void,
): CheckReport {
  const counts = new Map<string, number>()
  let plants = 0
  let rejected = 0
  let problems = 0

  function addProblem(line: number, problem: RecordProblem): void {
    const rule = `${describePlace(problem)}${problem.message}`
    const kind = counts.has(rule) || counts.size < MOST_KINDS ? rule : 'other problems'
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    if (problems++ < shown) writeLine(out, `${name}:${line}: ${describeProblem(problem)}`)
  }

  return {
    add({ line, problems: found }) {
      if (found === undefined) plants++
      else {
        rejected++
        for (const problem of found) addProblem(line, problem)
      }
    },
    end() {
      if (problems > shown) {
        writeLine(out, `${name}: ${formatCount(problems - shown)} more problems. All, by kind:`)
        for (const [rule, count] of [...counts].toSorted(([, one], [, other]) => other - one)) {
          writeLine(out, `  ${formatCount(count)}  ${rule}`)
        }
      }
      const others = rejected === 0 ? '' : `, ${formatCount(rejected)} ${be(rejected)} not`
      const found = plants === 1 ? '1 row is a plant' : `${formatCount(plants)} rows are plants`
      writeLine(out, `${name}: ${found}${others}`)
      return rejected === 0
    },
  }
}
