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
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { ContractExamination } from './examine-contract.ts'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const CONTRACT = 'packages/contract'
const DEPENDENTS = ['packages/client', 'apps/server']

const COMPILER = join(ROOT, CONTRACT, 'node_modules/typescript/bin/tsc')
const EXAMINE = fileURLToPath(new URL('./examine-contract.ts', import.meta.url))

/** What the compiler says; nothing where it finds no error. */
function compile(folder: string, ...options: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [COMPILER, ...options], { cwd: folder }, (error, stdout) => {
      if (error === null || stdout.includes('error TS')) resolve(stdout)
      else reject(new Error('the compiler did not run', { cause: error }))
    })
  })
}

function locateErrors(folder: string, said: string): string[] {
  const located = said.matchAll(/^(\S+)\(\d+,\d+\): error TS/gm)
  return Array.from(located, ([, path]) => `${folder}/${path}`)
}

async function findBrokenFilesIn(
  copy: string,
  folder: string,
  files: readonly string[] | undefined,
): Promise<string[]> {
  const here = files?.filter((file) => file.startsWith(folder))
  if (here?.length === 0) return []
  const chosen = here && { files: here.map((file) => relative(folder, file)), include: [] }
  const config = { extends: './tsconfig.json', ...chosen }
  writeFileSync(join(copy, folder, 'tsconfig.drift.json'), JSON.stringify(config))
  const said = await compile(join(copy, folder), '-p', 'tsconfig.drift.json')
  return locateErrors(folder, said)
}

/** Copies parts of a package, and links what it depends on. */
function copyPackage(copy: string, folder: string, parts: readonly string[]): void {
  for (const part of ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'src', ...parts]) {
    cpSync(join(ROOT, folder, part), join(copy, folder, part), { recursive: true })
  }
  const modules = join(copy, folder, 'node_modules')
  mkdirSync(join(modules, '@plant-store'), { recursive: true })
  symlinkSync(join(copy, CONTRACT), join(modules, '@plant-store/contract'))
  for (const place of ['', '@plant-store']) {
    const packages = join(ROOT, folder, 'node_modules', place)
    for (const name of existsSync(packages) ? readdirSync(packages) : []) {
      const target = join(modules, place, name)
      if (!existsSync(target)) symlinkSync(join(packages, name), target)
    }
  }
}

/** The contract, the client and the server, copied so that their sources may be changed. */
export interface WorkspaceCopy extends Disposable {
  /** Where a file of the copy is, by its path from the root of the repository. */
  pathOf(path: string): string
  write(path: string, content: string): void
  /** Replaces text that stands exactly once in a file. */
  change(path: string, from: string, to: string): void
  /** Takes all changes back. */
  restore(): void
  /** Builds the server as it is now, whatever the compiler has to say of it. */
  buildServer(): Promise<void>
  /**
   * Builds the contract, and type checks the client and the server against it: these files and what
   * they import, by default all. Gives the files with errors.
   */
  findBrokenFiles(files?: readonly string[]): Promise<string[]>
  /** Runs the contract: the document that it makes, and the cases that it fails. */
  examineContract(): Promise<ContractExamination>
}

/** Copies the sources; `serverParts` are other files and folders of the server that are wanted. */
export function copyWorkspace(serverParts: readonly string[] = []): WorkspaceCopy {
  const copy = mkdtempSync(join(realpathSync(tmpdir()), 'plant-store-drift-'))
  cpSync(join(ROOT, 'tsconfig.base.json'), join(copy, 'tsconfig.base.json'))
  copyPackage(copy, CONTRACT, ['document-changes'])
  copyPackage(copy, 'packages/client', [])
  copyPackage(copy, 'apps/server', serverParts)
  const originals = new Map<string, string>()
  return {
    pathOf: (path) => join(copy, path),
    write(path, content) {
      mkdirSync(dirname(join(copy, path)), { recursive: true })
      writeFileSync(join(copy, path), content)
    },
    change(path, from, to) {
      const text = readFileSync(join(copy, path), 'utf8')
      const parts = text.split(from)
      if (parts.length !== 2) throw new Error(`${path} has ${parts.length - 1} places of: ${from}`)
      if (!originals.has(path)) originals.set(path, text)
      writeFileSync(join(copy, path), parts.join(to))
    },
    restore() {
      for (const [path, text] of originals) writeFileSync(join(copy, path), text)
      originals.clear()
    },
    async buildServer() {
      await compile(join(copy, 'apps/server'), '-p', 'tsconfig.build.json')
    },
    async findBrokenFiles(files) {
      const own = await compile(join(copy, CONTRACT), '-p', 'tsconfig.build.json')
      const broken = DEPENDENTS.map((folder) => findBrokenFilesIn(copy, folder, files))
      return [...new Set([locateErrors(CONTRACT, own), ...(await Promise.all(broken))].flat())]
    },
    async examineContract() {
      const examine = promisify(execFile)
      const { stdout } = await examine(process.execPath, [EXAMINE, join(copy, CONTRACT, 'src')])
      return JSON.parse(stdout)
    },
    [Symbol.dispose]: () => rmSync(copy, { recursive: true, force: true }),
  }
}
