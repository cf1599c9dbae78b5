import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

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

/** A package that runs with what this project ships, as installed. */
export interface RuntimePackage {
  readonly name: string
  readonly version: string
  readonly licence: string
}

interface Listed {
  readonly name: string
  readonly versions: readonly string[]
}

/** What is shipped: everything but the benchmark, which has peers that it is measured beside. */
const SHIPPED = [
  '--filter',
  './packages/*',
  '--filter',
  './apps/*',
  '--filter',
  '!@plant-store/benchmark',
]

/** Every package of which a build copies files into the server, such as uPlot for a page. */
function listCopiedPackages(page: string): RuntimePackage[] {
  const build = new URL(`../apps/server/${page}/build.ts`, import.meta.url)
  const require = createRequire(build)
  const manifests = readFileSync(build, 'utf8').matchAll(/resolve\('([^']+\/package\.json)'\)/g)
  return Array.from(manifests, ([, manifest = '']) => {
    const { name, version, license: licence } = require(manifest)
    return { name, version, licence }
  })
}

/** Every package that the shipped ones depend on to run, by name and version. */
function listInstalledPackages(): RuntimePackage[] {
  const command = ['-y', 'pnpm@12.16.0', ...SHIPPED, 'licenses', 'list', '--prod', '--json']
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  const text = execFileSync('npx', command, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const byLicence = Object.entries<readonly Listed[]>(JSON.parse(text))
  return byLicence.flatMap(([licence, packages]) =>
    packages.flatMap(({ name, versions }) =>
      versions.map((version) => ({ name, version, licence })),
    ),
  )
}

/** Every package that runs with what is shipped, installed or copied, by name and version. */
export function listRuntimePackages(): RuntimePackage[] {
  return [...listInstalledPackages(), ...['page', 'overview'].flatMap(listCopiedPackages)].toSorted(
    (one, other) => (`${one.name} ${one.version}` < `${other.name} ${other.version}` ? -1 : 1),
  )
}

/** Those whose licence asks for more than its own text. */
export function findOthers(packages: readonly RuntimePackage[]): RuntimePackage[] {
  return packages.filter(({ licence }) => !PERMISSIVE.has(licence))
}

/** Rows as a table of Markdown, in the columns that the formatter gives it. */
function toTable(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (row: readonly string[], filler: string) =>
    `| ${row.map((cell, column) => cell.padEnd(widths?.[column] ?? 0, filler)).join(' | ')} |`
  const [head = [], ...body] = rows
  return [
    line(head, ' '),
    line(
      head.map(() => ''),
      '-',
    ),
    ...body.map((row) => line(row, ' ')),
  ]
}

/** The list as a document. */
export function describePackages(packages: readonly RuntimePackage[]): string {
  const rows = packages.map(({ name, version, licence }) => [name, version, licence])
  return [
    '# Runtime dependencies',
    '',
    'Every package that runs with the server, the command line, the client or the contract, installed or copied by the build, with its licence. Written by `npx -y pnpm@12.16.0 write-licences`; a test keeps it current, and lets in only licences that ask for nothing but their own text.',
    '',
    ...toTable([['Package', 'Version', 'Licence'], ...rows]),
    '',
  ].join('\n')
}

if (import.meta.main) {
  // Listed first, so that a list that fails leaves the file as it is.
  const text = describePackages(listRuntimePackages())
  writeFileSync(new URL('licences.md', import.meta.url), text)
}
