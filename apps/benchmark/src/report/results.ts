import { execFileSync } from 'node:child_process'
import { availableParallelism, cpus, release, totalmem, type } from 'node:os'
import type {
  ClientMeasurement,
  CommitMeasurement,
  CommitThreadMeasurement,
  EnduranceMeasurement,
  GrowthMeasurement,
  Measurement,
} from '../measurement.ts'

/** How the results came about. */
export interface Run {
  /** Such as 2026-01-31. */
  readonly date: string
  readonly command: string
  readonly commit: string
  readonly node: string
  readonly cpu: string
  /** Shared by server, database and load. */
  readonly cores: number
  readonly memoryBytes: number
  readonly kernel: string
  readonly rounds: number
  readonly seconds: number
  readonly minutes: number
}

/** What is measured by a command of its own, and keeps its place in the page meanwhile. */
export interface PartMeasurements {
  readonly client: ClientMeasurement
  readonly endurance: EnduranceMeasurement
  readonly growth: GrowthMeasurement
}

export type PartName = keyof PartMeasurements

export const PART_NAMES = ['client', 'endurance', 'growth'] as const satisfies readonly PartName[]

/** One part, which may have been measured by another run. */
export interface PartResults<Name extends PartName> {
  readonly run: Run
  readonly measurements: readonly PartMeasurements[Name][]
}

export type Parts = { readonly [Name in PartName]?: PartResults<Name> }

export interface Results {
  readonly run: Run
  readonly measurements: readonly Measurement[]
  readonly commits: readonly CommitMeasurement[]
  readonly commitThreads: readonly CommitThreadMeasurement[]
  readonly parts: Parts
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' }).trim()
}

/** The commit of the checkout, and whether files differ from it. */
function describeCommit(): string {
  try {
    const commit = git('rev-parse', '--short=12', 'HEAD')
    const changes = git('status', '--porcelain', ':/', ':(top,exclude)docs/performance*')
    return changes === '' ? commit : `${commit} with changes`
  } catch {
    return 'unknown: not a clone'
  }
}

/** Describes this machine and the run that starts now; `minutes` is not known yet. */
export function describeRun({ rounds, seconds }: Pick<Run, 'rounds' | 'seconds'>) {
  return {
    date: new Date().toISOString().slice(0, 10),
    command: ['pnpm bench', ...process.argv.slice(2)].join(' '),
    commit: describeCommit(),
    node: process.versions.node,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    kernel: `${type()} ${release()}`,
    rounds,
    seconds,
  }
}

/** In which circumstances a part was measured. */
export function describePartRun({ command, date, commit, node }: Run): string {
  return `By \`${command}\`: ${date}, commit ${commit}, Node.js ${node}`
}

/** With how many event loops a part was measured. */
export function describeLoops({ measurements }: PartResults<'endurance' | 'growth'>): string {
  const loops = measurements[0]?.loops
  return loops === 1 ? 'one loop' : `${loops} loops`
}

/** How often and how long a part was measured. */
export function describeRounds({ rounds, seconds }: Run): string {
  return `${rounds} rounds of ${seconds} s for each measurement`
}

/** Five digits are more than any measurement here is good for. */
function shorten(_key: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isInteger(value)) return value
  return Number(value.toPrecision(5))
}

function toLines(records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record, shorten)}\n`).join('')
}

/** The results as JSON lines: the run, then a measurement in each line; each part the same below. */
export function formatResults({ run, parts, ...servers }: Results): string {
  const { measurements, commits, commitThreads } = servers
  const ofParts = PART_NAMES.flatMap((part) => {
    const results = parts[part]
    return results ? [{ part, ...results.run }, ...results.measurements] : []
  })
  return toLines([run, ...measurements, ...commits, ...commitThreads, ...ofParts])
}

/** Reads what formatResults has written. */
export function parseResults(text: string): Results {
  const [run, ...records] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const parts: Record<string, { run: Run; measurements: object[] }> = {}
  const measurements: Measurement[] = []
  const commits: CommitMeasurement[] = []
  const commitThreads: CommitThreadMeasurement[] = []
  let measured: object[] | undefined
  for (const record of records) {
    if ('part' in record) {
      const { part, ...ofPart } = record
      measured = []
      parts[part] = { run: ofPart, measurements: measured }
    } else if (measured) measured.push(record)
    else if ('connections' in record) measurements.push(record)
    else if ('together' in record) commits.push(record)
    else commitThreads.push(record)
  }
  return { run, measurements, commits, commitThreads, parts: parts as Parts }
}
