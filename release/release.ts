import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { create } from 'tar'

/** The folder of this repository. */
export const ROOT = join(import.meta.dirname, '..')

/** What is released: one commit of this repository as one version. */
export interface Release {
  readonly version: string
  /** When the commit was made, in Unix seconds: the time of every file in what is built. */
  readonly epoch: number
  /** The platforms of the archives, such as `linux-x64`. */
  readonly platforms: readonly string[]
  /** The folder of what is released. */
  readonly out: string
  /** A folder for what is needed on the way, removed afterwards. */
  readonly work: string
}

export function readJson(path: string) {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
}

/** The version of everything that is released: that of the server's package.json. */
export function readVersion(): string {
  return readJson('apps/server/package.json').version
}

/** When the commit that is checked out was made, in Unix seconds. */
export function readEpoch(): number {
  return Number(execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT }))
}

/** How a folder is packed. */
interface Packing {
  /** The path of the `.tar.gz` to write. */
  readonly file: string
  /** The folder in the archive that holds everything. */
  readonly prefix?: string
  /** The time of each file, in Unix seconds. */
  readonly epoch: number
  /** Which files may be executed, from the folder. */
  readonly programs: readonly string[]
}

/**
 * Packs the files of a folder, so that the bytes depend on nothing else: not on the time, the order
 * of the folder, its owner or the umask.
 */
export async function packFolder(folder: string, packing: Packing): Promise<void> {
  const { file, prefix = '', epoch, programs } = packing
  const files = globSync('**', { cwd: folder })
    .filter((path) => statSync(join(folder, path)).isFile())
    .toSorted()
  for (const path of files) chmodSync(join(folder, path), programs.includes(path) ? 0o755 : 0o644)
  const mtime = new Date(epoch * 1_000)
  await create({ file, cwd: folder, prefix, portable: true, mtime, gzip: { level: 9 } }, files)
}

/** Writes `SHA256SUMS` for files in a folder, as `sha256sum --check` reads it. */
export function writeChecksums(folder: string, names: readonly string[]): void {
  const lines = names.toSorted().map((name) => {
    const digest = createHash('sha256').update(readFileSync(join(folder, name)))
    return `${digest.digest('hex')}  ${name}\n`
  })
  writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''))
}
