import { chmodSync, cpSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { build, type Metafile, type Plugin } from 'esbuild'
import { describeLicences, readPackages, type UsedPackage } from './licences.ts'
import { ROOT } from './release.ts'

const SERVER = join(ROOT, 'apps/server')
const CLI = join(ROOT, 'apps/cli')
const FLAT = join(import.meta.dirname, 'flat')

export type ProgramName = 'server' | 'cli'

/** How a program is made from its sources. */
interface Recipe {
  readonly command: string
  /** The oldest major version of Node.js that runs it. */
  readonly node: number
  /** The sources of the main program and of its threads. */
  readonly entries: readonly string[]
  /** The modules that know where files are, and what takes their place. */
  readonly replaced: Readonly<Record<string, string>>
  /** The programs that build the pages; each page is in the build, in a folder of that name. */
  readonly pages: readonly string[]
}

const RECIPES: Readonly<Record<ProgramName, Recipe>> = {
  server: {
    command: 'plant-store-server',
    node: 24,
    entries: [join(SERVER, 'src/main.ts'), ...globSync(join(SERVER, 'src/**/*-worker.ts'))],
    replaced: { [join(SERVER, 'src/process/files.ts')]: join(FLAT, 'server-files.ts') },
    pages: globSync(join(SERVER, '*/build.ts')),
  },
  cli: {
    command: 'plant-store',
    node: 20,
    entries: [join(CLI, 'src/main.ts')],
    replaced: {},
    pages: [],
  },
}

/** Modules that other people's code asks for where it finds them, and does without. */
const ABSENT = ['pg-native']

// CommonJS in a module has no `require` of its own.
const REQUIRE =
  "import { createRequire as createRequireHere } from 'node:module';" +
  'const require = createRequireHere(import.meta.url);'

/**
 * Puts other modules in the place of some, by absolute paths. The build fails if one of them was
 * not met, because then its place has changed.
 */
export function replaceModules(replaced: Readonly<Record<string, string>>): Plugin {
  return {
    name: 'replace-modules',
    setup({ onEnd, onLoad }) {
      const missing = new Set(Object.keys(replaced))
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const replacement = replaced[path]
        if (replacement === undefined) return undefined
        missing.delete(path)
        return { contents: `export * from ${JSON.stringify(replacement)}`, loader: 'ts' }
      })
      onEnd(() => ({
        errors: Array.from(missing, (path) => ({
          text: `nothing imports ${path}, which is to be replaced`,
        })),
      }))
    },
  }
}

/**
 * What a program loads with `import()` must be a module: of CommonJS it would get no names.
 *
 * @throws an Error that names the importer
 */
export function refuseDynamicCommonJs({ inputs }: Metafile): void {
  for (const [file, { imports }] of Object.entries(inputs)) {
    const wrong = imports.find(
      ({ kind, path }) => kind === 'dynamic-import' && inputs[path]?.format === 'cjs',
    )
    if (wrong) throw new Error(`${file} loads ${wrong.path} with import(), which is CommonJS`)
  }
}

async function bundle({ entries, node, replaced }: Recipe, folder: string): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: entries.map((path) => ({ in: path, out: basename(path, '.ts') })),
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: `node${node}`,
    external: ABSENT,
    banner: { js: REQUIRE },
    plugins: [replaceModules(replaced)],
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  })
  refuseDynamicCommonJs(metafile)
  return metafile
}

/**
 * Writes a program with everything that it uses into `folder`, which is emptied first: it runs with
 * Node.js and nothing else, as `main.js`. The repository has to be built. The same sources give the
 * same bytes.
 *
 * @param version - that of the package; what `--version` prints
 * @returns the packages whose code is in it, by name
 */
export async function buildProgram(
  name: ProgramName,
  folder: string,
  version: string,
): Promise<readonly UsedPackage[]> {
  const recipe = RECIPES[name]
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const packages = readPackages(await bundle(recipe, folder), recipe.pages)
  chmodSync(join(folder, 'main.js'), 0o755)
  for (const page of recipe.pages.map((path) => basename(dirname(path)))) {
    cpSync(join(SERVER, 'dist', page), join(folder, page), { recursive: true })
  }
  const manifest = { name: recipe.command, version, type: 'module', license: 'MIT' }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  writeFileSync(join(folder, 'LICENSES.md'), describeLicences(packages))
  return packages
}
