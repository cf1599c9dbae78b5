import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { pathOf } from './packages.ts'

/** A TypeScript compiler of this machine. */
export interface Compiler {
  readonly title: string
  readonly path: string
  readonly isInstalled: boolean
}

function findCompiler(title: string, folder: string): Compiler {
  const path = `${pathOf(folder)}/bin/tsc`
  return { title, path, isInstalled: existsSync(path) }
}

/** The oldest that is promised, the last of the old line, and the newest. */
export const compilers: readonly Compiler[] = [
  findCompiler('TypeScript 5.4', 'tools/node_modules/typescript-5.4'),
  findCompiler('TypeScript 5.9', 'tools/node_modules/typescript-5.9'),
  findCompiler('TypeScript 7', '../node_modules/typescript'),
]

/** What checks an import as each way of resolving it sees it; not installed with the workspace. */
export const ARE_THE_TYPES_WRONG = pathOf('tools/node_modules/@arethetypeswrong/cli/dist/index.js')

/** The strictest that a caller may ask for. */
const STRICTEST = [
  '--noEmit',
  '--strict',
  '--exactOptionalPropertyTypes',
  '--noUncheckedIndexedAccess',
  '--target',
  'es2022',
]

/** How a program is compiled. */
export interface CompileOptions {
  /** How modules are found. Default: `nodenext`. */
  readonly resolution?: 'nodenext' | 'node16' | 'bundler' | 'node10'
  /** Whether the declarations of packages go unchecked. Default: false. */
  readonly skipLibCheck?: boolean
  /** Default: with the DOM. */
  readonly lib?: 'es2022,dom' | 'es2022'
  /** What of @types is there without an import. Default: the compiler's own. */
  readonly types?: string
}

const MODULES = { nodenext: 'nodenext', node16: 'node16', bundler: 'esnext', node10: 'commonjs' }

/** What a compiler says of a program of a project; nothing where it finds no error. */
export async function compile(
  { path }: Compiler,
  folder: string,
  program: string,
  { resolution = 'nodenext', skipLibCheck = false, lib = 'es2022,dom', types }: CompileOptions = {},
): Promise<string> {
  const options = ['--module', MODULES[resolution], '--moduleResolution', resolution, '--lib', lib]
  options.push('--skipLibCheck', String(skipLibCheck), '--esModuleInterop')
  if (types !== undefined) options.push('--types', types)
  const child = spawn(process.execPath, [path, ...STRICTEST, ...options, program], { cwd: folder })
  return text(child.stdout)
}
