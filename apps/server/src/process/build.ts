import { readFileSync } from 'node:fs'
import { files } from './files.ts'

const { version } = JSON.parse(readFileSync(files.manifest, 'utf8')) as { version: string }

/** What runs here: the version of this program and of Node.js. */
export const build = { version, node: process.versions.node } as const
