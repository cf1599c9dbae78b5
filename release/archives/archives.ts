import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readForge } from '../forge.ts'
import type { Part, Release } from '../parts.ts'
import { buildProgram, type ProgramName } from '../program/build-program.ts'
import type { UsedPackage } from '../program/packages.ts'
import { ROOT } from '../root.ts'
import { type Artefact, writeSbom } from '../sbom.ts'
import { launcherOf, PROGRAMS, readmeOf } from './launchers.ts'
import { fileOfNode, installNodes } from './nodes.ts'
import { ARCHIVED, type Platform } from './platforms.ts'
import { writeTar } from './write-tar.ts'
import { writeZip } from './write-zip.ts'

const NAMES = Object.keys(PROGRAMS) as ProgramName[]

/** Fills a folder with what the archive of a platform holds. */
function fillFolder(folder: string, platform: Platform, programs: string, version: string): void {
  mkdirSync(join(folder, 'lib/node'), { recursive: true })
  cpSync(programs, join(folder, 'lib'), { recursive: true })
  const binary = platform.format === 'zip' ? 'node.exe' : 'node'
  cpSync(fileOfNode(platform.node, platform.binary), join(folder, 'lib/node', binary))
  cpSync(fileOfNode(platform.licence, 'LICENSE'), join(folder, 'lib/node/LICENSE'))
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  writeFileSync(join(folder, 'README.md'), readmeOf(platform, version, readForge()))
  const launchers = NAMES.map((name) => launcherOf(name, platform, version))
  for (const { file, text } of launchers) writeFileSync(join(folder, file), text)
  // Whatever the builder's umask is.
  for (const path of globSync('**', { cwd: folder, withFileTypes: true })) {
    chmodSync(join(path.parentPath, path.name), path.isDirectory() ? 0o755 : 0o644)
  }
  for (const file of ['lib/node/node', ...launchers.map((launcher) => launcher.file)]) {
    if (platform.format === 'tar.gz') chmodSync(join(folder, file), 0o755)
  }
}

async function buildArchive(platform: Platform, release: Release, programs: string) {
  const { epoch, out, version, work } = release
  const name = `plant-store-${version}-${platform.name}`
  const folder = join(work, platform.name)
  fillFolder(join(folder, name), platform, programs, version)
  const names = globSync([name, `${name}/**`], { cwd: folder })
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted()
  const file = `${name}.${platform.format}`
  const write = platform.format === 'zip' ? writeZip : writeTar
  await write(join(out, file), folder, names, epoch)
  return file
}

/** The Node.js of an archive, for its bill of materials. */
function describeNode({ node }: Platform): Artefact['packages'][number] {
  const { version } = JSON.parse(readFileSync(fileOfNode(node, 'package.json'), 'utf8'))
  return { name: 'node', version, licence: 'MIT', purl: `pkg:generic/node@${version}` }
}

/** The server and the command line of callers with a Node.js of their own, for machines without one. */
export const archives: Part = {
  name: 'archives',
  async build(release) {
    installNodes()
    const programs = join(release.work, 'programs')
    const used = new Map<string, UsedPackage>()
    for (const name of NAMES) {
      const packages = await buildProgram(name, join(programs, name), release.version)
      for (const one of packages) used.set(`${one.name}@${one.version}`, one)
    }
    const wanted = ARCHIVED.filter(({ name }) => release.platforms.includes(name))
    const written = wanted.map(async (platform) => {
      const file = await buildArchive(platform, release, programs)
      const packages = [...used.values(), describeNode(platform)]
      const purl = `pkg:generic/plant-store@${release.version}`
      return [file, writeSbom(release, { file, name: 'plant-store', purl, packages })]
    })
    return (await Promise.all(written)).flat()
  },
}
