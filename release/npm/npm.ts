import type { Part } from '../parts.ts'

/** The packages for npm's registry. */
export const npm: Part = {
  name: 'npm',
  async build() {
    return []
  },
}
