import { globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'

import { ROOT } from '../root.ts'

/** A package of somebody else whose code is in a program. */
export interface UsedPackage {
  readonly name: string
  readonly version: string
  /** By its SPDX name. */
  readonly licence: string
  /** The licence itself. */
  readonly licenceText: string
}

/** The licence of a package, which some have in their README only. */
function readLicence(folder: string): string {
  const [file] = globSync('{LICEN[CS]E,Licen[cs]e,licen[cs]e}*', { cwd: folder }).toSorted()
  if (file !== undefined) return readFileSync(join(folder, file), 'utf8').trim()
  const [readme = 'README.md'] = globSync('{README,Readme,readme}.md', { cwd: folder })
  const [, text] = /^#+ licen[cs]e\n(.*)/ims.exec(readFileSync(join(folder, readme), 'utf8')) ?? []
  if (text === undefined) throw new Error(`${folder} has no licence`)
  return text.trim()
}

function readPackage(folder: string): UsedPackage {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return { name, version, licence: license, licenceText: readLicence(folder) }
}

/** The packages that a page's own build puts into the page: it reads the package.json of each. */
function foldersOfPage(page: string): string[] {
  const build = join(ROOT, `apps/server/${page}/build.ts`)
  const { resolve } = createRequire(build)
  const manifests = readFileSync(build, 'utf8').matchAll(/resolve\('([^']+\/package\.json)'\)/g)
  return Array.from(manifests, ([, manifest = '']) => join(resolve(manifest), '..'))
}

/** The packages of others of which code is in a bundle, or in the pages beside it. */
export function readPackages(
  { outputs }: Metafile,
  pages: Readonly<Record<string, string>>,
): UsedPackage[] {
  const bundled = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs)
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .map(([path]) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]),
  )
  const folders = [
    ...bundled.filter((path) => path !== undefined).map((path) => join(ROOT, path)),
    ...Object.keys(pages).flatMap(foldersOfPage),
  ]
  const packages = Array.from(new Set(folders), readPackage)
  const byName = new Map(packages.map((one) => [`${one.name}@${one.version}`, one]))
  return [...byName.entries()]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, p]) => p)
}

/** The licences of this project and of everything whose code is in a program, as a document. */
export function describeLicences(packages: readonly UsedPackage[]): string {
  const others = Array.from(
    Map.groupBy(packages, ({ licenceText }) => licenceText),
    ([text, ones]) => {
      const names = ones.map(({ name, version }) => `${name} ${version}`).join(', ')
      return `\n## ${names}\n\n\`\`\`text\n${text}\n\`\`\`\n`
    },
  )
  const own = `This program:\n\n\`\`\`text\n${readLicence(ROOT)}\n\`\`\`\n`
  return `# Licences\n\n${own}\nIt holds code of these packages.\n${others.join('')}`
}
