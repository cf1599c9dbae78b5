import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The root of this clone. */
export const ROOT = join(import.meta.dirname, '..')

export function readRoot(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}
