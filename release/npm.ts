import { cpSync, globSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildProgram } from './program.ts'
import { packFolder, type Release, ROOT, readJson } from './release.ts'

/** What is read of a package.json. */
interface Manifest {
  readonly name: string
  readonly bin?: Readonly<Record<string, string>>
  readonly [more: string]: unknown
}

/** Packs a folder as a package; `source`: the folder of that package in the repository. */
async function packPackage(release: Release, source: string, manifest: Manifest): Promise<string> {
  const { private: _, scripts, devDependencies, ...own } = manifest
  const forge = readJson('package.json').repository
  const published = {
    ...own,
    version: release.version,
    homepage: `${forge}/tree/main/${source}#readme`,
    bugs: `${forge}/issues`,
    repository: { type: 'git', url: `git+${forge}.git`, directory: source },
    publishConfig: { access: 'public' },
  }
  const folder = join(release.work, source)
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
  for (const name of ['README.md', 'CHANGELOG.md']) {
    cpSync(join(ROOT, source, name), join(folder, name))
  }
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  const name = `${own.name.replace('@', '').replace('/', '-')}-${release.version}.tgz`
  const programs = Object.values(own.bin ?? {})
  const { epoch, out } = release
  await packFolder(folder, { file: join(out, name), prefix: 'package', epoch, programs })
  return name
}

/** A library is published as its build left it. */
async function packLibrary(release: Release, source: string): Promise<string> {
  const manifest = readJson(`${source}/package.json`)
  for (const path of globSync(manifest.files, { cwd: join(ROOT, source) })) {
    cpSync(join(ROOT, source, path), join(release.work, source, path), { recursive: true })
  }
  return await packPackage(release, source, manifest)
}

/** A program holds everything that it uses, so that it is installed alone. */
async function packProgram(release: Release, name: 'server' | 'cli'): Promise<string> {
  const source = `apps/${name}`
  await buildProgram(name, join(release.work, source), release.version)
  const { bin, dependencies, exports, files, ...own } = readJson(`${source}/package.json`)
  const programs = Object.fromEntries(Object.keys(bin).map((command) => [command, 'main.js']))
  return await packPackage(release, source, { ...own, bin: programs })
}

/** Writes the packages for npm's registry; gives their names. */
export async function buildPackages(release: Release): Promise<readonly string[]> {
  return [
    await packLibrary(release, 'packages/contract'),
    await packLibrary(release, 'packages/client'),
    await packProgram(release, 'cli'),
    await packProgram(release, 'server'),
  ]
}
