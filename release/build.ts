import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ALL_PARTS } from './all-parts.ts'
import { writeChecksums } from './checksums.ts'
import type { Release } from './parts.ts'
import { readCommit, readVersion } from './release.ts'
import { ROOT } from './root.ts'

const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-arm64', 'win32-x64']

const { values } = parseArgs({
  options: {
    /** Emptied first. */
    out: { type: 'string', default: 'dist/release' },
    only: { type: 'string', default: ALL_PARTS.map(({ name }) => name).join() },
    platforms: { type: 'string', default: PLATFORMS.join() },
    /** Another version than that of the packages, to try an upgrade. */
    'as-version': { type: 'string', default: readVersion() },
    /** What `pnpm build` makes is there already. */
    'is-built': { type: 'boolean', default: false },
  },
})

function findUnknown(list: string, known: readonly string[]): string | undefined {
  return list.split(',').find((name) => !known.includes(name))
}

async function buildRelease(): Promise<void> {
  const unknown =
    findUnknown(values.platforms, PLATFORMS) ??
    findUnknown(
      values.only,
      ALL_PARTS.map(({ name }) => name),
    )
  if (unknown !== undefined) throw new Error(`there is no part and no platform ${unknown}`)
  if (!values['is-built']) {
    const flags = ['run', 'build', '--output-logs=errors-only']
    execFileSync('turbo', flags, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  const out = resolve(ROOT, values.out)
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const work = mkdtempSync(join(tmpdir(), 'plant-store-release-'))
  const release: Release = {
    version: values['as-version'],
    ...readCommit(),
    platforms: values.platforms.split(','),
    out,
    work,
  }
  try {
    const names = values.only.split(',')
    const written: string[] = []
    for (const part of ALL_PARTS.filter(({ name }) => names.includes(name))) {
      written.push(...(await part.build(release)))
    }
    writeChecksums(out, written)
    for (const name of written) console.log(join(out, name))
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

await buildRelease()
