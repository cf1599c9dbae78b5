import { readFileSync } from 'node:fs'

/** In the place of `apps/cli/src/version.ts`: the package.json stands beside the program. */
export const readVersion: typeof import('../../apps/cli/src/version.ts').readVersion = () =>
  JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8')).version
