import { cpSync, globSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { writeTar } from '../archives/write-tar.ts'
import type { Part } from '../parts.ts'
import { buildProgram } from '../program/build-program.ts'
import type { UsedPackage } from '../program/packages.ts'
import { ROOT } from '../root.ts'
import { writeSbom } from '../sbom.ts'

const NAME = 'plant-store-server'

/**
 * Writes what an image is built from to a folder: the container file, and the program as `program/`.
 * It is the same for each architecture.
 *
 * @returns the packages of others in the program
 */
export async function writeContext(
  folder: string,
  version: string,
): Promise<readonly UsedPackage[]> {
  mkdirSync(folder, { recursive: true })
  cpSync(join(ROOT, 'operations/Containerfile'), join(folder, 'Containerfile'))
  return await buildProgram('server', join(folder, 'program'), version)
}

/**
 * What the image is built from, as a `.tar.gz`: podman, buildah and Docker build it without anything
 * else but the base. The image itself is pushed to a registry, so it is no file of a release.
 */
export const image: Part = {
  name: 'image',
  async build(release) {
    const folder = join(release.work, 'image')
    const packages = await writeContext(folder, release.version)
    const file = `${NAME}-${release.version}-image.tar.gz`
    const names = globSync('**', { cwd: folder }).filter((name) => name !== '.')
    await writeTar(join(release.out, file), folder, names.toSorted(), release.epoch)
    const purl = `pkg:oci/${NAME}?tag=${release.version}`
    return [file, writeSbom(release, { file, name: NAME, purl, packages })]
  },
}
