import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url))
}

/** Packs a package as it is published; gives the path of the tarball. */
export function pack(folder: string, destination: string): string {
  const output = execFileSync(
    'npx',
    ['-y', 'pnpm@12.16.0', 'pack', '--json', '--pack-destination', destination],
    { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  )
  return JSON.parse(output.slice(output.indexOf('{'))).filename
}

/** Packs a package that pnpm has installed, as files that npm unpacks: pnpm's are hard links. */
export function packInstalled(folder: string, destination: string): string {
  const tarball = join(destination, `${basename(folder)}.tgz`)
  const path = realpathSync(folder)
  const options = ['--hard-dereference', '-C', dirname(path), basename(path)]
  execFileSync('tar', ['-czf', tarball, ...options])
  return tarball
}

/** A project of somebody else, with nothing but what it installs. */
export interface Project extends Disposable {
  readonly folder: string
  /** The files of an installed package, sorted. */
  filesOf(name: string): string[]
  /** Lets it find a package that `tools` has installed; nothing where that has not. */
  linkTool(name: string): void
}

/** Where `tools` has installed a package; undefined where it has not. */
export function findTool(name: string): string | undefined {
  const path = pathOf(`tools/node_modules/${name}`)
  return existsSync(path) ? realpathSync(path) : undefined
}

/** A new project into which npm installs these tarballs, without a network. */
export function createProject(pack: (folder: string) => readonly string[]): Project {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-project-'))
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  cpSync(pathOf('programs'), folder, { recursive: true })
  const options = ['--offline', '--no-audit', '--no-fund', '--no-package-lock']
  execFileSync('npm', ['install', ...options, ...pack(folder)], { cwd: folder, stdio: 'ignore' })
  return {
    folder,
    filesOf(name) {
      const installed = join(folder, 'node_modules', name)
      const entries = readdirSync(installed, { recursive: true, withFileTypes: true })
      const files = entries.filter((entry) => entry.isFile())
      return files.map((file) => relative(installed, join(file.parentPath, file.name))).toSorted()
    },
    linkTool(name) {
      const tool = findTool(name)
      if (tool === undefined) return
      const link = join(folder, 'node_modules', name)
      mkdirSync(dirname(link), { recursive: true })
      symlinkSync(tool, link)
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}
