import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildProgram } from './program.ts'
import { packFolder, type Release, ROOT } from './release.ts'

/**
 * Writes what an image is built from to a folder: the container file, and the program as `program/`.
 * It is the same for each architecture.
 */
export async function writeContext(folder: string, version: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  cpSync(join(ROOT, 'operations/Containerfile'), join(folder, 'Containerfile'))
  await buildProgram('server', join(folder, 'program'), version)
}

/**
 * Packs what the image is built from: podman, buildah and Docker need nothing else but the base.
 * The image itself is pushed to a registry, so it is no file of a release.
 */
export async function buildImageContext(release: Release): Promise<readonly string[]> {
  const { epoch, out, version, work } = release
  const folder = join(work, 'image')
  await writeContext(folder, version)
  const name = `plant-store-server-${version}-image.tar.gz`
  await packFolder(folder, { file: join(out, name), epoch, programs: ['program/main.js'] })
  return [name]
}
