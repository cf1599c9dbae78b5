import { execFileSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { env } from 'node:process'
import { pathOf } from './bundle.ts'
import type { RuntimeKind } from './case.ts'

/** A JavaScript runtime that runs the cases in a process of its own. */
export interface Runtime {
  /** Its column in the table. */
  readonly title: string
  readonly kind: RuntimeKind
  /** Where its program is; undefined where this machine has none. */
  readonly program: string | undefined
  /** What stands before the path of the script. */
  readonly flags: readonly string[]
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The package undici, whose dispatchers Node's fetch takes; undefined where it is not installed. */
export const UNDICI = findInRuntimes('undici')

function findInRuntimes(path: string): string | undefined {
  try {
    return createRequire(pathOf('programs/')).resolve(path)
  } catch {
    return undefined
  }
}

/** The program of an npm package that the runtimes folder depends on. */
function findInPackage(name: string, inside: string): string | undefined {
  const program = join(dirname(findInRuntimes(`${name}/package.json`) ?? ''), inside)
  return isProgram(program) ? program : undefined
}

/** The first program of a name on the path that no package brought. */
export function findOnPath(name: string): string | undefined {
  const { PATH = '' } = env
  const folders = PATH.split(delimiter).filter((folder) => !folder.includes('node_modules'))
  return folders.map((folder) => join(folder, name)).find(isProgram)
}

function majorOf(program: string): string {
  const version = execFileSync(program, ['--version'], { encoding: 'utf8' })
  return /\d+/.exec(version)?.[0] ?? ''
}

function findNode(major: string, inPackage: string | undefined): Runtime {
  const found = [process.execPath, inPackage, findOnPath('node')]
  const program = found.find((path) => path !== undefined && majorOf(path) === major)
  return { title: `Node.js ${major}`, kind: 'node', program, flags: [] }
}

/** The packages are those that pnpm has linked; nothing is fetched. */
const DENO_FLAGS = ['run', '--allow-all', '--quiet', '--no-lock', '--node-modules-dir=manual']

/** Every runtime but the browser, in the order of the table. */
export function findRuntimes(): readonly Runtime[] {
  const bun = findInPackage('bun', 'bin/bun.exe') ?? findOnPath('bun')
  const deno = findInPackage('deno', 'deno') ?? findOnPath('deno')
  return [
    findNode('20', findInPackage('nodejs-20', 'bin/node')),
    findNode('22', findInPackage('nodejs-22', 'bin/node')),
    findNode('24', undefined),
    findNode('26', findInPackage('nodejs-26', 'bin/node')),
    { title: 'Bun 1', kind: 'bun', program: bun, flags: [] },
    { title: 'Deno 2', kind: 'deno', program: deno, flags: DENO_FLAGS },
  ]
}
