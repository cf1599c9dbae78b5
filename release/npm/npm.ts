import { join } from 'node:path'
import type { Part, Release } from '../parts.ts'
import { buildProgram, type ProgramName } from '../program/build-program.ts'
import { ROOT } from '../root.ts'
import { type Artefact, writeSbom } from '../sbom.ts'
import { listInstalled } from './installed.ts'
import { type Manifest, readManifest, toPublished } from './manifest.ts'
import { addDocuments, copyFiles, packFolder, writeManifest } from './pack.ts'

/** The packages that are published as their builds left them. */
const LIBRARIES = ['packages/contract', 'packages/client']

/** The programs: each holds everything that it uses, so that it is installed alone. */
const PROGRAMS = { server: 'apps/server', cli: 'apps/cli' } as const

/** `source`: the folder of the package in the repository. */
async function pack(
  release: Release,
  source: string,
  manifest: Manifest,
  packages: Artefact['packages'],
): Promise<string[]> {
  const folder = join(release.work, source)
  addDocuments(join(ROOT, source), folder)
  const published = toPublished(manifest, source, release.version)
  writeManifest(folder, published)
  const file = await packFolder(release, folder, published)
  return [file, writeSbom(release, { file, name: manifest.name, packages })]
}

function packLibrary(release: Release, source: string): Promise<string[]> {
  const folder = join(ROOT, source)
  const manifest = readManifest(folder)
  copyFiles(folder, manifest.files ?? [], join(release.work, source))
  return pack(release, source, manifest, listInstalled(folder, manifest))
}

async function packProgram(release: Release, name: ProgramName): Promise<string[]> {
  const source = PROGRAMS[name]
  const packages = await buildProgram(name, join(release.work, source), release.version)
  const { bin = {}, dependencies, exports, files, ...own } = readManifest(join(ROOT, source))
  const main = Object.fromEntries(Object.keys(bin).map((command) => [command, 'main.js']))
  return pack(release, source, { ...own, bin: main }, packages)
}

/** The packages for npm's registry. */
export const npm: Part = {
  name: 'npm',
  async build(release) {
    const written: string[] = []
    for (const source of LIBRARIES) written.push(...(await packLibrary(release, source)))
    for (const name of ['cli', 'server'] as const) {
      written.push(...(await packProgram(release, name)))
    }
    return written
  },
}
