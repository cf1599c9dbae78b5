import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { root } from './markdown.ts'

/** The lines that git prints in a folder. */
function git(folder: string, ...args: string[]): string[] {
  const printed = execFileSync('git', args, { cwd: folder, encoding: 'utf8' })
  return printed.split('\n').filter(Boolean)
}

/** The files that a clone would have, in a new folder with a repository of its own. */
export function copyFreshly(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-clone-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const file of git(root, 'ls-files', '-co', '--exclude-standard')) {
    // A file that is deleted but not yet committed is still listed.
    if (existsSync(join(root, file))) cpSync(join(root, file), join(folder, file))
  }
  git(folder, 'init', '--quiet')
  git(folder, 'add', '--all')
  return folder
}

/** What somebody finds who asks git, after what a document says was done. */
export function filesLeftIn(folder: string): string[] {
  return git(folder, 'ls-files', '--others', '--exclude-standard')
}

/** The environment of a person: nothing of the package manager and the test runner around us. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) =>
      !/^(?:npm_(?!config_registry)|pnpm|turbo|node_|vitest|init_cwd|plant_store)/i.test(name),
  )
  const path = (process.env.PATH ?? '').split(delimiter)
  return {
    ...Object.fromEntries(inherited),
    PATH: path.filter((folder) => !folder.includes('node_modules')).join(delimiter),
    PLANT_STORE_LISTEN: '127.0.0.1:0',
    PLANT_STORE_OPERATIONS_LISTEN: '127.0.0.1:0',
  }
}

export interface Shell {
  /** Resolves with the first match in what was printed, standard error included. */
  print(pattern: RegExp): Promise<RegExpExecArray>
  /** Resolves with all that was printed once the command has ended. */
  readonly ended: Promise<string>
  /** Ends the command and all that it started, at once. */
  kill(): Promise<string>
}

/** Runs a line in a shell as a person would, with everything that it starts in a group of its own. */
export function runInShell(
  folder: string,
  line: string,
  environment: NodeJS.ProcessEnv = {},
): Shell {
  const child: ChildProcess = spawn('sh', ['-c', line], {
    cwd: folder,
    env: { ...plainEnvironment(), ...environment },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  const ended = new Promise<string>((resolve) => child.on('close', () => resolve(printed)))
  const kill = () => {
    const isRunning = child.exitCode === null && child.signalCode === null
    if (isRunning && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    return ended
  }
  onTestFinished(async () => void (await kill()))
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk) => {
      printed += chunk
    })
  }
  return {
    ended,
    kill,
    print: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(printed)
          if (match !== null) resolve(match)
        }
        for (const stream of [child.stdout, child.stderr]) stream?.on('data', look)
        void ended.then(() => reject(new Error(`ended without ${pattern}: ${printed}`)))
        look()
      }),
  }
}
