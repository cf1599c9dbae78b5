import { defineConfig } from 'vitest/config'
import { contractAsBuilt } from './contract/as-built.ts'

const testTimeout = 30_000

/** Many times what a compiler or a run of every case takes. */
const PATIENT = { testTimeout: 180_000, hookTimeout: 180_000 }

export default defineConfig({
  test: {
    projects: [
      { ...contractAsBuilt, test: { name: 'client', include: ['test/**/*.test.ts'], testTimeout } },
      // Every runtime, and the packages as they are published; `pnpm test:all` runs them.
      { test: { name: 'elsewhere', include: ['{hostile,packed}/*.test.ts'], ...PATIENT } },
    ],
  },
})
