import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { needs } from '../../packages/client/runtimes/needs.ts'
import { ROOT } from '../root.ts'
import { buildRelease, createFolder } from './build.ts'
import { plainEnvironment } from './installed-server.ts'

const here = createFolder()

afterAll(() => rmSync(here, { recursive: true, force: true }))

const changed = execFileSync('git', ['status', '--porcelain', '--untracked-files=no'], {
  cwd: ROOT,
})

test(
  'another clone of the same commit, in another folder, gives the same bytes',
  needs('a clone without changes', changed.length === 0),
  () => {
    buildRelease(join(here, 'out'), '--only', 'npm')
    const clone = join(here, 'a clone')
    execFileSync('git', ['clone', '--quiet', ROOT, clone])
    const env = plainEnvironment()
    const pnpm = (...args: string[]) =>
      execFileSync('npx', ['-y', 'pnpm@12.16.0', ...args], { cwd: clone, env, stdio: 'pipe' })
    pnpm('install', '--frozen-lockfile', '--prefer-offline')
    pnpm('release:build', '--only', 'npm')
    const sums = (folder: string) => readFileSync(join(folder, 'SHA256SUMS'), 'utf8')
    expect(sums(join(clone, 'dist/release'))).toBe(sums(join(here, 'out')))
  },
)
