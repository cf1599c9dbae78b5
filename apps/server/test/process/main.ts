import { join } from 'node:path'

/** The program that tests start: the build, or the one that a release has made of it. */
export const MAIN = process.env.TESTED_PROGRAM ?? join(import.meta.dirname, '../../dist/main.js')
