import { execFileSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../root.ts'

/** A folder of its own for a file of tests. */
export function createFolder(): string {
  return mkdtempSync(join(tmpdir(), 'plant-store-release-test-'))
}

/** Builds parts of the release, by the command that releases; the repository is built already. */
export function buildRelease(out: string, ...flags: readonly string[]): string {
  const args = [join(ROOT, 'release/build.ts'), '--is-built', '--out', out, ...flags]
  return execFileSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })
}
