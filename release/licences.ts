import { globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'
import { ROOT } from './release.ts'

/** Licences that ask for nothing but their own text, by their SPDX names. */
const PERMISSIVE = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
])

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

/** The packages that the build of a page puts into it: it reads the package.json of each. */
function foldersOfPage(build: string): string[] {
  const { resolve } = createRequire(build)
  const manifests = readFileSync(build, 'utf8').matchAll(/resolve\('([^']+\/package\.json)'\)/g)
  return Array.from(manifests, ([, manifest = '']) => join(resolve(manifest), '..'))
}

/**
 * The packages of others of which code is in a bundle, or in a page beside it, by name.
 *
 * @param pageBuilds - the programs that build the pages
 */
export function readPackages({ outputs }: Metafile, pageBuilds: readonly string[]): UsedPackage[] {
  const bundled = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs)
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .map(([path]) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]),
  )
  const folders = [
    ...bundled.filter((path) => path !== undefined).map((path) => join(ROOT, path)),
    ...pageBuilds.flatMap(foldersOfPage),
  ]
  const byName = new Map(
    Array.from(new Set(folders), readPackage).map((one) => [`${one.name}@${one.version}`, one]),
  )
  return [...byName.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

/**
 * The licences of this project and of everything whose code is in a program, as a document.
 *
 * @throws an Error that names a package whose licence asks for more than its own text
 */
export function describeLicences(packages: readonly UsedPackage[]): string {
  const strict = packages.find(({ licence }) => !PERMISSIVE.has(licence))
  if (strict) throw new Error(`the licence of ${strict.name} is not permitted: ${strict.licence}`)
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
