import type { TestOptions } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** Of a test that was skipped: what this machine does not have. */
    needs?: string
  }
}

/** Skips a test where the machine lacks what it needs, and gives the reason to the report. */
export function needs(what: string, isThere: boolean): TestOptions {
  return { skip: !isThere, meta: { needs: what } }
}
