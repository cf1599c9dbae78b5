import { chmodSync, cpSync, globSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { create } from 'tar'
import type { Release } from '../parts.ts'
import { ROOT } from '../root.ts'
import type { Manifest } from './manifest.ts'

/** Copies the files and folders that the patterns of `files` in a package.json mean. */
export function copyFiles(source: string, patterns: readonly string[], target: string): void {
  for (const path of patterns.flatMap((pattern) => globSync(pattern, { cwd: source }))) {
    cpSync(join(source, path), join(target, path), { recursive: true })
  }
}

/** Adds what each package has for its readers. */
export function addDocuments(source: string, target: string): void {
  for (const name of ['README.md', 'CHANGELOG.md']) cpSync(join(source, name), join(target, name))
  cpSync(join(ROOT, 'LICENSE'), join(target, 'LICENSE'))
}

export function writeManifest(folder: string, manifest: Manifest): void {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

/** Packs a folder as npm does, so that the same files give the same bytes; gives the file's name. */
export async function packFolder(
  { out, epoch }: Release,
  folder: string,
  { name, version, bin = {} }: Manifest,
): Promise<string> {
  const files = globSync('**', { cwd: folder })
    .filter((path) => statSync(join(folder, path)).isFile())
    .toSorted()
  const programs = new Set(Object.values(bin))
  // Whatever the umask was when they were written.
  for (const path of files) chmodSync(join(folder, path), programs.has(path) ? 0o755 : 0o644)
  const file = `${name.replace('@', '').replace('/', '-')}-${version}.tgz`
  const options = { cwd: folder, prefix: 'package', portable: true, mtime: new Date(epoch * 1_000) }
  await create({ ...options, file: join(out, file), gzip: { level: 9 } }, files)
  return file
}
