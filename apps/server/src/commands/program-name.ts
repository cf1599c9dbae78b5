import { basename, delimiter, dirname } from 'node:path'
import { quoteForShell } from '../text/quote-for-shell.ts'

/** The program's name in messages and documents, and where it is installed. */
export const PROGRAM = 'plant-store-server'

/** The scripts of the root's package.json that run this program; `start` takes no other command. */
const SCRIPTS = ['server', 'start']

/** How a process was started. */
export interface Start {
  readonly argv: readonly string[]
  /** Node, as it was typed. */
  readonly argv0: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * The words that start this program again where the reader is: `plant-store-server` where a shell
 * finds it, the script where pnpm ran one in a clone, else Node and the path of the program.
 */
export function readProgramName({ argv: [, path], argv0, env }: Start): string {
  if (path === undefined) return PROGRAM
  const [, pnpm] = /^(pnpm\/[\d.]+)/.exec(env.npm_config_user_agent ?? '') ?? []
  const isScript =
    env.npm_package_name === 'plant-store' && SCRIPTS.includes(env.npm_lifecycle_event ?? '')
  if (pnpm !== undefined && isScript) return `npx -y ${pnpm.replace('/', '@')} server`
  if (basename(path) !== PROGRAM) return `${quoteForShell(argv0)} ${quoteForShell(path)}`
  const isFound = env.PATH?.split(delimiter).includes(dirname(path)) === true
  return isFound ? PROGRAM : quoteForShell(path)
}
