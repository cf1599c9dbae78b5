import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../packages/client/runtimes/needs.ts'

const MODULE = join(import.meta.dirname, '../vacuum')

const document = createRequire(import.meta.url).resolve('@plant-store/contract/openapi.json')

const hasGo = spawnSync('go', ['version']).status === 0

/** Go compiles vacuum first. */
const BUILD_MS = 900_000

test('vacuum gives the document 100 of 100', { ...needs('go', hasGo), timeout: BUILD_MS }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-vacuum-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const vacuum = join(folder, 'vacuum')
  const build = ['build', '-o', vacuum, 'github.com/daveshanley/vacuum']
  execFileSync('go', build, { cwd: MODULE, stdio: 'pipe' })
  const lint = ['lint', '--no-banner', '--no-style', '--min-score', '100', document]
  const { status, stdout } = spawnSync(vacuum, lint, { encoding: 'utf8' })
  expect(stdout).toContain('Quality Score: 100/100')
  expect(status).toBe(0)
})
