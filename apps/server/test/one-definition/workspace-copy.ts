import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))

export const CONTRACT = 'packages/contract'
export const CLIENT = 'packages/client'
export const SERVER = 'apps/server'

/** A change of a file: its path, text that stands in it exactly once, and what replaces that text. */
export type Edit = readonly [path: string, from: string, to: string]

/** The contract, the client and the server, copied so that their sources may be changed. */
export interface WorkspaceCopy extends Disposable {
  /** Where a file of the copy is, by its path from the root of the repository. */
  pathOf(path: string): string
  /** @throws Error where the text does not stand in the file exactly once; nothing is changed then. */
  edit(edits: readonly Edit[]): void
  /** Undoes all edits. */
  restore(): void
  /**
   * Runs the build script of a package, which checks only what an edit touches. Gives the files with
   * errors of types, in order. The compiler writes its output all the same.
   */
  build(folder: string): Promise<string[]>
}

/** Copies parts of a package, and links everything that it depends on. */
function copyPackage(copy: string, folder: string, parts: readonly string[]): void {
  for (const part of ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'src', ...parts]) {
    cpSync(join(ROOT, folder, part), join(copy, folder, part), { recursive: true })
  }
  const modules = join(copy, folder, 'node_modules')
  mkdirSync(join(modules, '@plant-store'), { recursive: true })
  symlinkSync(join(copy, CONTRACT), join(modules, '@plant-store', basename(CONTRACT)))
  for (const place of ['', '@plant-store']) {
    const packages = join(ROOT, folder, 'node_modules', place)
    for (const name of existsSync(packages) ? readdirSync(packages) : []) {
      const target = join(modules, place, name)
      if (!existsSync(target)) symlinkSync(join(packages, name), target)
    }
  }
}

function runBuild(folder: string): Promise<{ hasFailed: boolean; output: string }> {
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter)
  const options = { cwd: folder, env: { ...process.env, PATH: path } }
  return new Promise((resolve) => {
    execFile(process.execPath, ['--run', 'build'], options, (error, out, err) => {
      resolve({ hasFailed: error !== null, output: out + err })
    })
  })
}

/** Copies the sources; `serverParts` are other files and folders of the server that are needed. */
export function copyWorkspace(serverParts: readonly string[] = []): WorkspaceCopy {
  const copy = mkdtempSync(join(realpathSync(tmpdir()), 'plant-store-copy-'))
  const base = JSON.parse(readFileSync(join(ROOT, 'tsconfig.base.json'), 'utf8'))
  base.compilerOptions.incremental = true
  writeFileSync(join(copy, 'tsconfig.base.json'), JSON.stringify(base))
  copyPackage(copy, CONTRACT, ['openapi.json'])
  copyPackage(copy, CLIENT, ['contract', 'write-declarations.ts'])
  copyPackage(copy, SERVER, ['overview', 'page', ...serverParts])
  const originals = new Map<string, string>()
  const restore = () => {
    for (const [path, text] of originals) writeFileSync(join(copy, path), text)
    originals.clear()
  }

  function editOne([path, from, to]: Edit): void {
    const text = readFileSync(join(copy, path), 'utf8')
    const parts = text.split(from)
    if (parts.length !== 2) throw new Error(`${path} has ${parts.length - 1} places of: ${from}`)
    if (!originals.has(path)) originals.set(path, text)
    writeFileSync(join(copy, path), parts.join(to))
  }

  return {
    pathOf: (path) => join(copy, path),
    edit(edits) {
      try {
        edits.forEach(editOne)
      } catch (error) {
        restore()
        throw error
      }
    },
    restore,
    async build(folder) {
      const { hasFailed, output } = await runBuild(join(copy, folder))
      const located = output.matchAll(/^(\S+)\(\d+,\d+\): error TS/gm)
      const files = new Set(Array.from(located, ([, path]) => join(folder, String(path))))
      if (hasFailed && files.size === 0) throw new Error(`${folder} was not built: ${output}`)
      return [...files].toSorted()
    },
    [Symbol.dispose]: () => rmSync(copy, { recursive: true, force: true }),
  }
}
