import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildArchives, PLATFORMS } from './archives.ts'
import { buildImageContext } from './image.ts'
import { buildPackages } from './npm.ts'
import { type Release, ROOT, readEpoch, readVersion, writeChecksums } from './release.ts'

/** Each way to install the release; gives the names of the files that it has written. */
const PARTS: Readonly<Record<string, (release: Release) => Promise<readonly string[]>>> = {
  npm: buildPackages,
  archives: buildArchives,
  image: buildImageContext,
}

const { values } = parseArgs({
  options: {
    /** Emptied first. */
    out: { type: 'string', default: 'dist/release' },
    only: { type: 'string', default: Object.keys(PARTS).join() },
    platforms: { type: 'string', default: PLATFORMS.map(({ name }) => name).join() },
    /** Another version than that of the packages, to try an upgrade. */
    'as-version': { type: 'string', default: readVersion() },
    /** What `pnpm build` makes is there already. */
    'is-built': { type: 'boolean', default: false },
  },
})

if (!values['is-built']) {
  const flags = ['run', 'build', '--output-logs=errors-only']
  execFileSync('turbo', flags, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
}
const out = resolve(ROOT, values.out)
rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
const work = mkdtempSync(join(tmpdir(), 'plant-store-release-'))
const version = values['as-version']
const platforms = values.platforms.split(',')
const release: Release = { version, epoch: readEpoch(), platforms, out, work }
try {
  const written: string[] = []
  for (const name of values.only.split(',')) {
    const build = PARTS[name]
    if (build === undefined) throw new Error(`there is no part ${name}`)
    written.push(...(await build(release)))
  }
  writeChecksums(out, written)
  for (const name of written) console.log(join(out, name))
} finally {
  rmSync(work, { recursive: true, force: true })
}
