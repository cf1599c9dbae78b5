import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { runInShell, type Shell } from '../../docs/test/fresh-copy.ts'
import { post } from '../../test/server-process.ts'
import { ROOT } from '../release.ts'

/** The platform of this machine. */
export const HERE = `${process.platform}-${process.arch}`

/** Where files are that will be published: these are tested, in place of those that are built here. */
const SHIPPED = process.env.PLANT_STORE_TEST_RELEASE

/**
 * Builds parts of the release, by the command that releases and under a umask of few; gives their
 * folder. The repository is built already.
 */
export function buildRelease(out: string, ...flags: readonly string[]): string {
  const line = 'umask 027; exec "$0" release/build.ts --is-built "$@"'
  execFileSync('sh', ['-c', line, process.execPath, '--out', out, ...flags], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  for (const name of SHIPPED === undefined ? [] : readdirSync(SHIPPED)) {
    if (existsSync(join(out, name))) cpSync(join(SHIPPED ?? '', name), join(out, name))
  }
  return out
}

/** The path of the only file in a folder that a pattern means. */
export function fileIn(folder: string, pattern: string): string {
  const [name, ...more] = globSync(pattern, { cwd: folder })
  if (name === undefined || more.length > 0) throw new Error(`${folder} has no single ${pattern}`)
  return join(folder, name)
}

/** A server that was started from what is released. */
export interface ReleasedServer extends Shell {
  readonly url: string
  /** What its first start printed; of a later one, the one that was given. */
  readonly token: string
  readonly version: string
  readonly pid: number
  /** Sends a plant; gives the status and whether it was there already. */
  store(plant: string): Promise<{ readonly status: number; readonly isReplay: boolean }>
}

/**
 * Starts a server as a person does, by lines in a shell, and waits until it listens. Its ports are
 * free ones. `token`: that of an earlier start in this folder.
 */
export async function startReleased(
  folder: string,
  lines: string,
  environment: NodeJS.ProcessEnv = {},
  known?: string,
): Promise<ReleasedServer> {
  const shell = runInShell(folder, lines, environment)
  const [, url = '', version = '', pid] = await shell.print(
    /"url":"(http:[^"]+)".*"version":"([^"]+)".*"pid":(\d+).*"msg":"listening"/,
  )
  const token = known ?? (await shell.print(/^ {2}(plant_\S+)$/m))[1] ?? ''
  return {
    ...shell,
    url,
    version,
    token,
    pid: Number(pid),
    async store(body) {
      const { status, headers } = await post({ url, token }, { body })
      return { status, isReplay: headers.has('idempotent-replayed') }
    },
  }
}
