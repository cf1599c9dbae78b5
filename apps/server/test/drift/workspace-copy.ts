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
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const CONTRACT = 'packages/contract'
const DEPENDENTS = ['packages/client', 'apps/server']
const COMPILER = join(ROOT, CONTRACT, 'node_modules/typescript/bin/tsc')

/** What the compiler says; nothing where it finds no error. */
function compile(folder: string, ...options: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [COMPILER, ...options], { cwd: folder }, (error, stdout, stderr) => {
      if (error === null || stdout.includes('error TS')) resolve(stdout)
      else reject(new Error(`the compiler did not run: ${stderr}`, { cause: error }))
    })
  })
}

async function brokenFilesOf(copy: string, folder: string): Promise<string[]> {
  const errors = await compile(join(copy, folder), '--noEmit')
  const located = errors.matchAll(/^(\S+)\(\d+,\d+\): error TS/gm)
  return Array.from(located, ([, path]) => `${folder}/${path}`)
}

/** Copies the sources of a package, and links what it depends on. */
function copyPackage(copy: string, folder: string): void {
  for (const part of ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'src']) {
    cpSync(join(ROOT, folder, part), join(copy, folder, part), { recursive: true })
  }
  const modules = join(copy, folder, 'node_modules')
  mkdirSync(join(modules, '@plant-store'), { recursive: true })
  symlinkSync(join(copy, CONTRACT), join(modules, '@plant-store/contract'))
  for (const name of readdirSync(join(ROOT, folder, 'node_modules'))) {
    const target = join(modules, name)
    if (!existsSync(target)) symlinkSync(join(ROOT, folder, 'node_modules', name), target)
  }
}

/** The contract, the client and the server, copied so that the contract may be changed. */
export interface WorkspaceCopy extends Disposable {
  write(path: string, content: string): void
  /** Replaces text that stands exactly once in a source file of the contract. */
  changeContract(file: string, from: string, to: string): void
  /** Makes the contract's declarations anew; gives what the compiler says, in a sound one nothing. */
  buildContract(): Promise<string>
  /** Type checks the client and the server against them; gives the files with errors. */
  findBrokenFiles(): Promise<string[]>
}

export function copyWorkspace(): WorkspaceCopy {
  const copy = mkdtempSync(join(realpathSync(tmpdir()), 'plant-store-drift-'))
  cpSync(join(ROOT, 'tsconfig.base.json'), join(copy, 'tsconfig.base.json'))
  for (const folder of [CONTRACT, ...DEPENDENTS]) copyPackage(copy, folder)
  return {
    write(path, content) {
      mkdirSync(dirname(join(copy, path)), { recursive: true })
      writeFileSync(join(copy, path), content)
    },
    changeContract(file, from, to) {
      const path = join(copy, CONTRACT, 'src', file)
      const parts = readFileSync(path, 'utf8').split(from)
      if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} places of: ${from}`)
      writeFileSync(path, parts.join(to))
    },
    buildContract: () => compile(join(copy, CONTRACT), '-p', 'tsconfig.build.json'),
    async findBrokenFiles() {
      const broken = await Promise.all(DEPENDENTS.map((folder) => brokenFilesOf(copy, folder)))
      return [...new Set(broken.flat())]
    },
    [Symbol.dispose]: () => rmSync(copy, { recursive: true, force: true }),
  }
}
