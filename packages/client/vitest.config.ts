import { defineConfig } from 'vitest/config'
import { contractAsBuilt } from './contract/as-built.ts'

/** A machine that is busy with other tests takes its time. */
const patient = { testTimeout: 60_000, expect: { poll: { timeout: 20_000 } } }

/** Many times what a compiler or a run of every case takes. */
const PATIENT = { ...patient, testTimeout: 300_000, hookTimeout: 180_000 }

export default defineConfig({
  test: {
    projects: [
      { ...contractAsBuilt, test: { name: 'client', include: ['test/**/*.test.ts'], ...patient } },
      // Every runtime, and the packages as they are published; `pnpm test:all` runs them.
      { test: { name: 'elsewhere', include: ['{runtimes,packed}/*.test.ts'], ...PATIENT } },
    ],
  },
})
