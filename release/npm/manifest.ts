import { readFileSync, realpathSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { join } from 'node:path'
import { readForge } from '../forge.ts'
import { ROOT } from '../root.ts'

/** What is read of a package.json. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly license?: string
  readonly files?: readonly string[]
  readonly bin?: Readonly<Record<string, string>>
  readonly exports?: unknown
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly scripts?: Readonly<Record<string, string>>
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

/** The package.json of a package that is installed for the file or folder `base`. */
export function readInstalled(name: string, base: string): Manifest & { folder: string } {
  const path = findPackageJSON(name, join(base, 'package.json'))
  if (path === undefined) throw new Error(`${base} has no ${name} installed`)
  // Of the package itself, because what it needs is beside that and not beside pnpm's link.
  const folder = realpathSync(join(path, '..'))
  return { ...readManifest(folder), folder }
}

/** A package.json with what the readers of the registry need. */
export interface Published extends Manifest {
  readonly homepage: string
  readonly bugs: string
  readonly repository: object
  readonly publishConfig: object
}

/** The package.json of a package as it is published. `source`: its folder in the repository. */
export function toPublished(manifest: Manifest, source: string, version: string): Published {
  const { private: _, scripts, devDependencies, dependencies, ...own } = manifest
  const forge = readForge()
  // The repository's own say `workspace:` and `catalog:` instead of a version.
  const exact = Object.keys(dependencies ?? {}).map((name) => [
    name,
    readInstalled(name, join(ROOT, source)).version,
  ])
  return {
    ...own,
    version,
    homepage: `${forge}/tree/main/${source}#readme`,
    bugs: `${forge}/issues`,
    repository: { type: 'git', url: `git+${forge}.git`, directory: source },
    publishConfig: { access: 'public' },
    ...(exact.length > 0 && { dependencies: Object.fromEntries(exact) }),
  }
}
