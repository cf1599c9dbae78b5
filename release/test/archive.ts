import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../root.ts'
import { type RunningProgram, type RunOptions, runProgram } from './running-program.ts'

/** The platform of this machine. */
export const HERE = `${process.platform}-${process.arch}`

export const IS_WINDOWS = process.platform === 'win32'

export function createFolder(name: string): string {
  return mkdtempSync(join(realpathSync(tmpdir()), `plant-store-${name}-`))
}

/** Builds archives by the command that releases; gives their folder. The repository is built. */
export function buildArchives(platforms: string, ...flags: readonly string[]): string {
  const out = createFolder('release')
  const program = [process.execPath, join(ROOT, 'release/build.ts'), '--is-built']
  const args = ['--only', 'archives', '--platforms', platforms, '--out', out, ...flags]
  // That of no usual user: it must not show in what is built.
  const command = IS_WINDOWS ? program : ['sh', '-c', 'umask 027; exec "$0" "$@"', ...program]
  const [first = '', ...rest] = [...command, ...args]
  execFileSync(first, rest, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
  return out
}

/** The path of the archive for a platform. */
export function archiveOf(release: string, platform: string): string {
  const [name] = globSync(`plant-store-*-${platform}.{tar.gz,zip}`, { cwd: release })
  if (name === undefined) throw new Error(`${release} has no archive for ${platform}`)
  return join(release, name)
}

export function digestOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}

/** Unpacks an archive as docs/installing.md says; gives the folder that it makes in `folder`. */
export function unpack(archive: string, folder: string): string {
  mkdirSync(folder, { recursive: true })
  const isZip = archive.endsWith('.zip')
  // The tar of Windows reads both.
  if (isZip && !IS_WINDOWS) execFileSync('unzip', ['-q', '-o', archive, '-d', folder])
  else execFileSync('tar', ['-xf', archive, '-C', folder])
  const [name = ''] = globSync('plant-store-*', { cwd: folder }).toSorted().slice(-1)
  return join(folder, name)
}

/** The files of a folder, from there, sorted, with `/`. */
export function filesIn(folder: string): string[] {
  return globSync('**', { cwd: folder })
    .filter((path) => statSync(join(folder, path)).isFile())
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted()
}

/** A server that was started by its launcher. */
export interface LaunchedServer extends RunningProgram {
  readonly url: string
  readonly version: string
  readonly token: string
  /** Sends a plant; gives the status, and whether it was there already. */
  store(plant: string): Promise<{ readonly status: number; readonly isReplay: boolean }>
}

/** Starts a server and waits until it listens. `token`: that of an earlier start in this folder. */
export async function launch(
  command: string,
  args: readonly string[],
  options: RunOptions,
  token?: string,
): Promise<LaunchedServer> {
  const program = runProgram(command, args, options)
  const [, url = '', version = ''] = await program.print(
    /"url":"(http:[^"]+)".*"version":"([^"]+)".*"msg":"listening"/,
  )
  const shown = token ?? (await program.print(/^ {2}(plant_[\w-]+)\r?$/m))[1] ?? ''
  return {
    ...program,
    url,
    version,
    token: shown,
    async store(body) {
      const headers = { authorization: `Bearer ${shown}`, 'content-type': 'application/json' }
      const reply = await fetch(`${url}/plants`, { method: 'POST', headers, body })
      await reply.text()
      return { status: reply.status, isReplay: reply.headers.has('idempotent-replayed') }
    },
  }
}
