import { execFileSync } from 'node:child_process'
import { availableParallelism, cpus, release, totalmem, type } from 'node:os'
import type { ClientMeasurement, CommitMeasurement, Measurement } from '../measurement.ts'

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

/** What was measured of the client, which may have been another run. */
export interface ClientResults {
  readonly run: Run
  readonly measurements: readonly ClientMeasurement[]
}

export interface Results {
  readonly run: Run
  readonly measurements: readonly Measurement[]
  readonly commits: readonly CommitMeasurement[]
  readonly client: ClientResults | undefined
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

/** Marks the line that describes the run of the client's measurements. */
const CLIENT_RUN = { part: 'client' }

function toLines(records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record, shorten)}\n`).join('')
}

/** The results as JSON lines: the run, then a measurement in each line; the client's come last. */
export function formatResults({ run, measurements, commits, client }: Results): string {
  const ofClient = client ? [{ ...CLIENT_RUN, ...client.run }, ...client.measurements] : []
  return toLines([run, ...measurements, ...commits, ...ofClient])
}

function kindOf(record: object): 'loads' | 'commits' | 'clientRuns' | 'clients' {
  if ('part' in record) return 'clientRuns'
  if ('client' in record) return 'clients'
  return 'connections' in record ? 'loads' : 'commits'
}

/** Reads what formatResults has written. */
export function parseResults(text: string): Results {
  const [run, ...records] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const {
    loads = [],
    commits = [],
    clientRuns = [],
    clients = [],
  } = Object.groupBy(records, (record) => kindOf(record))
  const [clientRun] = clientRuns
  if (clientRun === undefined) return { run, measurements: loads, commits, client: undefined }
  const { part: _, ...ofClient } = clientRun
  return { run, measurements: loads, commits, client: { run: ofClient, measurements: clients } }
}
