import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Release } from '../parts.ts'
import { ROOT } from '../root.ts'

const LICENCE = readFileSync(join(ROOT, 'LICENSE'), 'utf8')

export const PACKAGE = 'plant-store-server'

/** A name for each platform of a release that Debian knows. */
export const ARCHITECTURES: Readonly<Record<string, string>> = {
  'linux-x64': 'amd64',
  'linux-arm64': 'arm64',
}

/** Where the project is, and who answers for the package. */
export interface Origin {
  readonly homepage: string
  /** As Debian writes it: a name and an address. */
  readonly maintainer: string
}

/** What the fields of a package say, with its size in KiB. */
export function describePackage(
  { version }: Release,
  architecture: string,
  size: number,
  { homepage, maintainer }: Origin,
): string {
  return `Package: ${PACKAGE}
Version: ${version}
Architecture: ${architecture}
Maintainer: ${maintainer}
Installed-Size: ${size}
Depends: libatomic1, libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 5), systemd (>= 245)
Section: net
Priority: optional
Homepage: ${homepage}
Description: server that keeps plants, durably
 Plant Store has one operation over HTTP: it stores a plant under an id. When
 it replies 200, the plant is on the disk.
 .
 This package brings a Node.js of its own, a systemd unit that confines the
 server, a timer for backups, and the command plant-store-server for operators.
`
}

/** The changelog that Debian's policy asks of a package: the project's own says what has changed. */
export function describeChange(
  { version, epoch }: Release,
  { homepage, maintainer }: Origin,
): string {
  const date = new Date(epoch * 1000).toUTCString().replace('GMT', '+0000')
  return `${PACKAGE} (${version}) stable; urgency=medium

  * Version ${version}. What is new:
    ${homepage}/releases

 -- ${maintainer}  ${date}
`
}

/** Who has the rights in what is in the package, in Debian's form. */
export function describeCopyright(homepage: string): string {
  const [, holder] = /^Copyright \(c\) (.*)$/m.exec(LICENCE) ?? []
  const text = LICENCE.slice(LICENCE.indexOf('Permission')).trimEnd()
  const indented = text.replaceAll(/^/gm, ' ').replaceAll(/^ $/gm, ' .')
  return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Plant Store
Source: ${homepage}
Comment: The program holds code of other packages, all under permissive licences; LICENSES.md beside
 this file has the text of each. Node.js has its own with those of its parts in LICENSE.node.

Files: *
Copyright: ${holder}
License: MIT

Files: usr/lib/plant-store/bin/node
Copyright: Node.js contributors
License: MIT

License: MIT
${indented}
`
}
