import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Release } from './parts.ts'
import { ROOT } from './root.ts'

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
}

/** The version of everything that is released: that of the server's package.json. */
export function readVersion(): string {
  return JSON.parse(readFileSync(join(ROOT, 'apps/server/package.json'), 'utf8')).version
}

/** The commit that is checked out, and when it was made. */
export function readCommit(): Pick<Release, 'commit' | 'epoch'> {
  const isChanged = git('status', '--porcelain', '--untracked-files=no') !== ''
  return {
    commit: `${git('rev-parse', 'HEAD')}${isChanged ? '-dirty' : ''}`,
    epoch: Number(git('log', '-1', '--format=%ct')),
  }
}
