import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The file beside what is released, as `sha256sum --check` reads it. */
export const CHECKSUMS = 'SHA256SUMS'

/** Writes the SHA-256 of files in a folder. */
export function writeChecksums(folder: string, names: readonly string[]): void {
  const lines = names.toSorted().map((name) => {
    const digest = createHash('sha256').update(readFileSync(join(folder, name)))
    return `${digest.digest('hex')}  ${name}\n`
  })
  writeFileSync(join(folder, CHECKSUMS), lines.join(''))
}
