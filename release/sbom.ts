import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library'
import { readForge } from './forge.ts'
import type { Release } from './parts.ts'
import type { UsedPackage } from './program/packages.ts'

/** A file that is released, and what is in it. */
export interface Artefact {
  /** Its name in the folder of the release. */
  readonly file: string
  /** What it is a package of, such as `@plant-store/server`. */
  readonly name: string
  /** Its package URL (https://github.com/package-url/purl-spec); that of npm by default. */
  readonly purl?: string
  /** The packages of others in it, and those that are installed with it. */
  readonly packages: readonly (Pick<UsedPackage, 'name' | 'version' | 'licence'> & {
    /** That of npm by default. */
    readonly purl?: string
  })[]
}

/** The package URL of a package in npm's registry. */
export function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

function licenceOf(licence: string): Models.License {
  return /^[\w.-]+$/.test(licence)
    ? new Models.SpdxLicense(licence)
    : new Models.LicenseExpression(licence)
}

function describePackage({ name, version, licence, purl }: Artefact['packages'][number]) {
  const url = purl ?? purlOf(name, version)
  return new Models.Component(Enums.ComponentType.Library, name, {
    bomRef: url,
    version,
    purl: url,
    licenses: new Models.LicenseRepository([licenceOf(licence)]),
  })
}

function describeArtefact({ version, commit, out }: Release, { file, name, purl }: Artefact) {
  const digest = createHash('sha256')
    .update(readFileSync(join(out, file)))
    .digest('hex')
  const source = new Models.ExternalReference(
    `git+${readForge()}.git`,
    Enums.ExternalReferenceType.VCS,
    { comment: `commit ${commit}` },
  )
  return new Models.Component(Enums.ComponentType.Application, name, {
    bomRef: file,
    version,
    purl: purl ?? purlOf(name, version),
    licenses: new Models.LicenseRepository([new Models.SpdxLicense('MIT')]),
    hashes: new Models.HashDictionary([[Enums.HashAlgorithm['SHA-256'], digest]]),
    externalReferences: new Models.ExternalReferenceRepository([source]),
  })
}

/**
 * Writes the bill of materials of a file beside it, as CycloneDX 1.6 in JSON
 * (https://cyclonedx.org/docs/1.6/json/). The same file gives the same bytes.
 *
 * @returns its name: that of the file and `.cdx.json`
 */
export function writeSbom(release: Release, artefact: Artefact): string {
  const subject = describeArtefact(release, artefact)
  const components = artefact.packages.map(describePackage)
  for (const { bomRef } of components) subject.dependencies.add(bomRef)
  const bom = new Models.Bom({
    metadata: new Models.Metadata({
      timestamp: new Date(release.epoch * 1_000),
      component: subject,
    }),
    components: new Models.ComponentRepository(components),
  })
  const serializer = new Serialize.JsonSerializer(
    new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6),
  )
  const name = `${artefact.file}.cdx.json`
  const text = serializer.serialize(bom, { sortLists: true, space: 2 })
  writeFileSync(join(release.out, name), `${text}\n`)
  return name
}
