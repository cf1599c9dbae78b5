import { chmodSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build, type Metafile } from 'esbuild'

const folder = import.meta.dirname
const outdir = join(folder, 'dist')
const { dependencies } = createRequire(import.meta.url)('./package.json')

/** The folders of other people's packages of which code is in the bundle. */
function foldersOf({ inputs }: Metafile): Set<string> {
  const packages = Object.keys(inputs).map(
    (path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0],
  )
  return new Set(packages.filter((path) => path !== undefined))
}

function licenceIn(path: string): string {
  const [name = ''] = globSync('LICEN[CS]E*', { cwd: path })
  return readFileSync(join(path, name), 'utf8').trim()
}

/** The licences of this package and of everything whose code is in it. */
function describeLicences(bundled: Iterable<string>): string {
  const others = Array.from(bundled, (path) => {
    const { name } = JSON.parse(readFileSync(join(folder, path, 'package.json'), 'utf8'))
    return `## ${name}\n\n\`\`\`text\n${licenceIn(join(folder, path))}\n\`\`\`\n`
  })
  const own = `# Licences\n\nThis package:\n\n\`\`\`text\n${licenceIn(join(folder, '../..'))}\n\`\`\`\n`
  return `${own}\nIts code holds parts of these packages.\n\n${others.toSorted().join('\n')}`
}

rmSync(outdir, { recursive: true, force: true })
const { metafile } = await build({
  absWorkingDir: folder,
  entryPoints: [join(folder, 'src/main.ts')],
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Packages of this repository, which no registry has, and what they use go into the bundle.
  external: Object.keys(dependencies),
  metafile: true,
  logLevel: 'warning',
})
chmodSync(join(outdir, 'main.js'), 0o755)
writeFileSync(join(outdir, 'LICENSES.md'), describeLicences(foldersOf(metafile)))
