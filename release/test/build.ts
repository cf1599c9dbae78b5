import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CHECKSUMS } from '../checksums.ts'
import { ROOT } from '../root.ts'

/** A folder of its own for a file of tests. */
export function createFolder(): string {
  return mkdtempSync(join(tmpdir(), 'plant-store-release-test-'))
}

/** Where files are that will be published: these are tested, in place of those that are built here. */
const SHIPPED = process.env.PLANT_STORE_TEST_RELEASE

/** Builds parts of the release, by the command that releases; the repository is built already. */
export function buildRelease(out: string, ...flags: readonly string[]): string {
  const args = [join(ROOT, 'release/build.ts'), '--is-built', '--out', out, ...flags]
  const printed = execFileSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })
  for (const name of SHIPPED === undefined ? [] : readdirSync(SHIPPED)) {
    const built = join(out, name)
    if (name !== CHECKSUMS && existsSync(built)) cpSync(join(SHIPPED ?? '', name), built)
  }
  return printed
}
