import { archives } from './archives/archives.ts'
import { npm } from './npm/npm.ts'
import type { Part } from './parts.ts'

/** Every part, in the order in which they are built. */
export const ALL_PARTS: readonly Part[] = [npm, archives]
