import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  globSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileOfNode, installNodes } from '../archives/nodes.ts'
import { readForge } from '../forge.ts'
import type { Part, Release } from '../parts.ts'
import type { UsedPackage } from '../program/packages.ts'
import { type Artefact, writeSbom } from '../sbom.ts'
import { ARCHITECTURES, describePackage, type Origin, PACKAGE } from './control.ts'
import { writeTree } from './tree.ts'

const SCRIPTS = join(import.meta.dirname, 'scripts')

/** From the one place that says where the project is. */
function readOrigin(): Origin {
  const homepage = readForge()
  const [, host, owner] = /\/\/([^/]+)\/([^/]+)\//.exec(homepage) ?? []
  return { homepage, maintainer: `Plant Store <${owner}@users.noreply.${host}>` }
}

/** The files below a folder, by their paths in it. */
function listFiles(root: string): string[] {
  const names = globSync('**', { cwd: root })
  return names.filter((name) => lstatSync(join(root, name)).isFile()).toSorted()
}

function writeControl(root: string, release: Release, architecture: string): void {
  const files = listFiles(root)
  const bytes = files.reduce((sum, name) => sum + lstatSync(join(root, name)).size, 0)
  const digests = files
    .filter((name) => !name.startsWith('etc/'))
    .map((name) => {
      const digest = createHash('md5').update(readFileSync(join(root, name)))
      return `${digest.digest('hex')}  ${name}\n`
    })
  const control = join(root, 'DEBIAN')
  mkdirSync(control)
  const size = Math.ceil(bytes / 1024)
  writeFileSync(
    join(control, 'control'),
    describePackage(release, architecture, size, readOrigin()),
  )
  writeFileSync(join(control, 'conffiles'), '/etc/plant-store/environment\n')
  writeFileSync(join(control, 'md5sums'), digests.join(''))
  for (const name of ['postinst', 'prerm', 'postrm']) {
    cpSync(join(SCRIPTS, name), join(control, name))
    chmodSync(join(control, name), 0o755)
  }
}

/** Whatever the umask of the builder and the modes of its clone. */
function setModes(root: string): void {
  for (const name of globSync('**', { cwd: root })) {
    const path = join(root, name)
    const { mode, isSymbolicLink, isDirectory } = describe(path)
    if (isSymbolicLink) continue
    chmodSync(path, isDirectory || (mode & 0o100) !== 0 ? 0o755 : 0o644)
  }
  chmodSync(root, 0o755)
  chmodSync(join(root, 'etc/plant-store'), 0o750)
  chmodSync(join(root, 'etc/plant-store/environment'), 0o640)
}

function describe(path: string) {
  const stats = lstatSync(path)
  return {
    mode: stats.mode,
    isSymbolicLink: stats.isSymbolicLink(),
    isDirectory: stats.isDirectory(),
  }
}

/**
 * Writes the files of the package and what Debian wants to know of them to the folder `root`, which
 * is new; gives the packages of others in it.
 */
export async function stagePackage(
  root: string,
  release: Release,
  platform: string,
): Promise<readonly UsedPackage[]> {
  installNodes()
  const node = fileOfNode(`node-26-${platform}`, '')
  const packages = await writeTree(root, release, node, readOrigin())
  writeControl(root, release, ARCHITECTURES[platform] ?? '')
  setModes(root)
  return packages
}

/** Makes a package of a folder. xz takes a minute and a half, and makes 33 MB; gzip 50 MB in seconds. */
export function packPackage(
  root: string,
  file: string,
  { epoch }: Pick<Release, 'epoch'>,
  compressor: 'xz' | 'gzip' = 'xz',
): void {
  const flags = ['--root-owner-group', `-Z${compressor}`, compressor === 'gzip' ? '-z1' : '-z6']
  execFileSync('dpkg-deb', [...flags, '--build', root, file], {
    env: { PATH: '/usr/bin:/bin', SOURCE_DATE_EPOCH: String(epoch) },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

async function buildPackage(release: Release, platform: string): Promise<string[]> {
  const architecture = ARCHITECTURES[platform]
  const file = `${PACKAGE}_${release.version}_${architecture}.deb`
  const root = join(release.work, `debian-${architecture}`)
  const packages: Artefact['packages'] = await stagePackage(root, release, platform)
  packPackage(root, join(release.out, file), release)
  const purl = `pkg:deb/${PACKAGE}@${release.version}?arch=${architecture}`
  const { version } = JSON.parse(
    readFileSync(fileOfNode(`node-26-${platform}`, 'package.json'), 'utf8'),
  )
  const node = { name: 'node', version, licence: 'MIT', purl: `pkg:generic/node@${version}` }
  return [file, writeSbom(release, { file, name: PACKAGE, purl, packages: [...packages, node] })]
}

/** Packages for Debian and Ubuntu, each with its own Node.js; made by dpkg-deb. */
export const debian: Part = {
  name: 'deb',
  async build(release) {
    const names: string[] = []
    for (const platform of release.platforms.filter((one) => one in ARCHITECTURES)) {
      names.push(...(await buildPackage(release, platform)))
    }
    return names
  },
}
