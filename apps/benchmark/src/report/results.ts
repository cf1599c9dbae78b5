import { execFileSync } from 'node:child_process'
import { availableParallelism, cpus, release, totalmem, type } from 'node:os'
import type { CommitMeasurement, Measurement } from '../measurement.ts'

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

export interface Results {
  readonly run: Run
  readonly measurements: readonly Measurement[]
  readonly commits: readonly CommitMeasurement[]
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

/** Five digits are more than any measurement here is good for. */
function shorten(_key: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isInteger(value)) return value
  return Number(value.toPrecision(5))
}

/** The results as JSON lines: the run, then a measurement in each line. */
export function formatResults({ run, measurements, commits }: Results): string {
  return [run, ...measurements, ...commits]
    .map((record) => `${JSON.stringify(record, shorten)}\n`)
    .join('')
}

/** Reads what formatResults has written. */
export function parseResults(text: string): Results {
  const [run, ...records] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const { loads = [], commits = [] } = Object.groupBy(records, (record) =>
    'connections' in record ? 'loads' : 'commits',
  )
  return { run, measurements: loads, commits }
}
