import { defineConfig } from 'vitest/config'

/** Each first use of a tool reads hundreds of files, on a machine that may have other work. */
const PATIENCE_MS = 120_000

const patience = { testTimeout: PATIENCE_MS, hookTimeout: PATIENCE_MS }

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'foreign', include: ['test/*.test.ts'], ...patience } },
      // They need compilers of many languages: `pnpm foreign` runs them.
      { test: { name: 'languages', include: ['languages/*.test.ts'], ...patience } },
      // It takes minutes and Python: `pnpm foreign:schemathesis` runs it.
      { test: { name: 'schemathesis', include: ['schemathesis/*.test.ts'], ...patience } },
    ],
  },
})
