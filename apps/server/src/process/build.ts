import { readFileSync } from 'node:fs'

const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string }

/** What runs here: the version of this program and of Node.js. */
export const build = { version, node: process.versions.node } as const
