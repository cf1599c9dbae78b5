import { spawnSync } from 'node:child_process'
import { availableParallelism, cpus, release, totalmem, type } from 'node:os'
import { formatNumber } from './statistics.ts'

const BEGIN = '<!-- Written by pnpm bench --write, down to the next comment. -->'
const END = '<!-- Written by hand from here on. -->'

/** Nothing where there is no clone. */
const git = (...args: string[]) => String(spawnSync('git', args).stdout ?? '').trim()

/** When, where and how it was measured, in one sentence. */
export function describeRun(rounds: number, seconds: number, syncMs: number): string {
  const changes = git('status', '--porcelain', ':/', ':(top,exclude)docs/performance*')
  const commit = git('rev-parse', '--short=12', 'HEAD')
  return `${[
    `${new Date().toISOString().slice(0, 10)}, commit ${commit}${changes && ' with changes'}`,
    `Node.js ${process.versions.node}; ${cpus()[0]?.model.trim()}`,
    `${availableParallelism()} cores for server, database and load`,
    `${formatNumber(totalmem() / 2 ** 30)} GiB`,
    `${type()} ${release()}`,
    `a write and sync of 4 KiB in ${formatNumber(syncMs)} ms`,
    `${rounds} rounds of ${seconds} s`,
  ].join('; ')}.\n`
}

/** The page with these results in place of those that it has. @throws when a comment is gone */
export function renderPage(page: string, results: string): string {
  const [before, , after] = page.split(new RegExp(`(?<=${BEGIN}\n)|(?=${END})`))
  if (before === undefined || after === undefined) throw new Error('a comment of the page is gone')
  return `${before}\n${results}\n${after}`
}
