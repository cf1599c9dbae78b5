import { execFileSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { env } from 'node:process'
import type { RuntimeKind } from './case.ts'

/** A JavaScript runtime that runs the cases in a process of its own. */
export interface Runtime {
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

function findInPrograms(path: string): string | undefined {
  try {
    return createRequire(join(import.meta.dirname, 'programs/')).resolve(path)
  } catch {
    return undefined
  }
}

/** The package undici, whose dispatchers Node's fetch takes; undefined where it is not installed. */
export const UNDICI = findInPrograms('undici')

/** The program of an npm package that the folder `programs` depends on. */
function findInPackage(name: string, inside: string): string | undefined {
  const program = join(dirname(findInPrograms(`${name}/package.json`) ?? ''), inside)
  return isProgram(program) ? program : undefined
}

/** The first program of a name on the path that no package brought. */
export function findOnPath(name: string): string | undefined {
  const { PATH = '' } = env
  const folders = PATH.split(delimiter).filter((folder) => !folder.includes('node_modules'))
  return folders.map((folder) => join(folder, name)).find(isProgram)
}

function findNode(major: string): Runtime {
  const packed = findInPackage(`nodejs-${major}`, 'bin/node')
  const program = [process.execPath, packed, findOnPath('node')].find((path = '') => {
    return path && execFileSync(path, ['--version'], { encoding: 'utf8' }).startsWith(`v${major}.`)
  })
  return { title: `Node.js ${major}`, kind: 'node', program, flags: [] }
}

/** The packages are those that pnpm has linked; nothing is fetched. */
const DENO_FLAGS = ['run', '--allow-all', '--quiet', '--no-lock', '--node-modules-dir=manual']

/** Every runtime but the browser. */
export function findRuntimes(): readonly Runtime[] {
  const bun = findInPackage('bun', 'bin/bun.exe') ?? findOnPath('bun')
  const deno = findInPackage('deno', 'deno') ?? findOnPath('deno')
  return [
    ...['20', '22', '24', '26'].map(findNode),
    { title: 'Bun 1', kind: 'bun', program: bun, flags: [] },
    { title: 'Deno 2', kind: 'deno', program: deno, flags: DENO_FLAGS },
  ]
}
