import { execFileSync } from 'node:child_process'
import { cpSync, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { startProgram } from '../../test/start-program.ts'
import { temporaryFolder } from '../../test/temporary-folder.ts'
import { root } from './markdown.ts'

/** The lines that git prints in a folder. */
function git(folder: string, ...args: string[]): string[] {
  const printed = execFileSync('git', args, { cwd: folder, encoding: 'utf8' })
  return printed.split('\n').filter(Boolean)
}

/** The files that a clone would have, in a new folder with a repository of its own. */
export function copyFreshly(): string {
  const folder = temporaryFolder()
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

export type Shell = ReturnType<typeof runInShell>

/** Runs a line in a shell as a person would, with everything that it starts in a group of its own. */
export function runInShell(folder: string, line: string, environment: NodeJS.ProcessEnv = {}) {
  const env = { ...plainEnvironment(), ...environment }
  const program = startProgram(['sh', '-c', line], { cwd: folder, env, detached: true })
  /** Resolves with all that was printed once the command has ended. */
  const ended = program.ended.then(({ printed }) => printed)
  return {
    ended,
    /** Resolves with the first match in what was printed, standard error included. */
    print: (pattern: RegExp) => program.until(() => pattern.exec(program.texts.printed)),
    /** Ends the command and all that it started, at once. */
    kill: () => program.kill().then(() => ended),
  }
}
