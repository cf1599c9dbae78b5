import { defineConfig } from 'vitest/config'

/** A machine that is busy with other tests takes its time. */
const patient = { testTimeout: 60_000, expect: { poll: { timeout: 20_000 } } }

/** Many times what a compiler or a run of every case takes. */
const PATIENT = { ...patient, testTimeout: 300_000, hookTimeout: 180_000 }

export default defineConfig({
  test: {
    projects: [
      // Nothing that one file leaves behind reaches another, so that they may share a worker.
      { test: { name: 'client', include: ['test/**/*.test.ts'], isolate: false, ...patient } },
      // Every runtime, and the package as it is published; `pnpm test:all` runs them.
      { test: { name: 'elsewhere', include: ['{runtimes,packed}/*.test.ts'], ...PATIENT } },
    ],
  },
})
