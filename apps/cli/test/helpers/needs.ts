import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { TestOptions } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** Of a test that was skipped: what this machine does not have. */
    needs?: string
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Where a program is on the path; undefined where it is not. */
export function findProgram(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.map((folder) => join(folder, name)).find(isProgram)
}

/** Skips a test where the machine lacks what it needs, and gives the reason to the report. */
export function needs(what: string, isThere: boolean): TestOptions {
  return { skip: !isThere, meta: { needs: what } }
}
