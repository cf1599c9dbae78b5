import { basename, delimiter, dirname } from 'node:path'
import { quoteForShell } from '../text/quote-for-shell.ts'

/** The program's name in messages and documents, and where it is installed. */
export const PROGRAM = 'plant-store-server'

/** The scripts of the root's package.json that run this program; `start` takes no other command. */
const SCRIPTS = ['server', 'start']

/** The variable in which the launcher of an archive says how it was called. */
const CALLED_AS = 'PLANT_STORE_STARTED_AS'

/** The package in npm's registry. */
const PACKAGE = '@plant-store/server'

/** Where npx keeps what it runs, which is on no other shell's path. */
const NPX = /[\\/]_npx[\\/]/

/** How a process was started. */
export interface Start {
  readonly argv: readonly string[]
  /** Node, as it was typed. */
  readonly argv0: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** A path as one word of the shell in which it was typed. */
function quotePath(path: string): string {
  const isOfWindows = path.includes('\\')
  if (isOfWindows) return path.includes(' ') ? `"${path}"` : path
  return quoteForShell(path)
}

/** The words that call the file `plant-store-server`: its name alone where a shell finds it. */
function nameInstalled(path: string, { env }: Start): string {
  const isFound = env.PATH?.split(delimiter).includes(dirname(path)) === true
  return isFound || path === PROGRAM ? PROGRAM : quotePath(path)
}

/**
 * The words that start this program again where the reader is: `plant-store-server` where a shell
 * finds it, npx where that ran it, the script where pnpm ran one in a clone, else Node and the path
 * of the program.
 */
export function readProgramName(start: Start): string {
  const { argv0, env } = start
  const [, path] = start.argv
  if (path === undefined) return PROGRAM
  const launcher = env[CALLED_AS]
  if (launcher !== undefined) return nameInstalled(launcher, start)
  const [, pnpm] = /^(pnpm\/[\d.]+)/.exec(env.npm_config_user_agent ?? '') ?? []
  const isScript =
    env.npm_package_name === 'plant-store' && SCRIPTS.includes(env.npm_lifecycle_event ?? '')
  if (pnpm !== undefined && isScript) return `npx -y ${pnpm.replace('/', '@')} server`
  if (NPX.test(path)) return `npx -y ${PACKAGE}`
  if (basename(path) === PROGRAM) return nameInstalled(path, start)
  return `${quoteForShell(argv0)} ${quoteForShell(path)}`
}
