import { chmodSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Metafile } from 'esbuild'
import { ROOT } from '../root.ts'
import { describeLicences, readPackages, type UsedPackage } from './packages.ts'
import { refuseDynamicCommonJs } from './refuse-dynamic-common-js.ts'
import { replaceModules } from './replace-modules.ts'

const SERVER = join(ROOT, 'apps/server')
const CLI = join(ROOT, 'apps/cli')
const FLAT = join(import.meta.dirname, 'flat')

export type ProgramName = 'server' | 'cli'

/** How a program is made from its sources. */
interface Recipe {
  readonly command: string
  /** The oldest major version of Node.js that runs it. */
  readonly node: number
  /** The source of each entry: the main program, and its threads. */
  readonly entries: Readonly<Record<string, string>>
  /** The modules that know where files are, and what takes their place. */
  readonly replaced: Readonly<Record<string, string>>
  /** Folders of the build that stand beside the program. */
  readonly folders: Readonly<Record<string, string>>
}

const RECIPES: Readonly<Record<ProgramName, Recipe>> = {
  server: {
    command: 'plant-store-server',
    node: 24,
    entries: {
      main: join(SERVER, 'src/main.ts'),
      'commit-worker': join(SERVER, 'src/sqlite/commit/commit-worker.ts'),
      'loop-worker': join(SERVER, 'src/http/loops/loop-worker.ts'),
      'checkpoint-worker': join(SERVER, 'src/sqlite/commit/checkpoint-worker.ts'),
    },
    replaced: { [join(SERVER, 'src/process/files.ts')]: join(FLAT, 'server-files.ts') },
    folders: {
      page: join(SERVER, 'dist/page'),
      overview: join(SERVER, 'dist/overview'),
    },
  },
  cli: {
    command: 'plant-store',
    node: 20,
    entries: { main: join(CLI, 'src/main.ts') },
    replaced: { [join(CLI, 'src/version.ts')]: join(FLAT, 'cli-version.ts') },
    folders: {},
  },
}

/** Modules that other people's code asks for where it finds them, and does without. */
const ABSENT = ['pg-native']

// CommonJS in a module has no `require` of its own.
const REQUIRE =
  "import { createRequire as createRequireHere } from 'node:module';" +
  'const require = createRequireHere(import.meta.url);'

async function bundle({ entries, node, replaced }: Recipe, folder: string): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { ...entries },
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
  const packages = readPackages(await bundle(recipe, folder), recipe.folders)
  chmodSync(join(folder, 'main.js'), 0o755)
  for (const [target, source] of Object.entries(recipe.folders)) {
    cpSync(source, join(folder, target), { recursive: true })
  }
  const manifest = { name: recipe.command, version, type: 'module', license: 'MIT' }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  writeFileSync(join(folder, 'LICENSES.md'), describeLicences(packages))
  return packages
}
