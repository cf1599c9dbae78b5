import { defineConfig } from 'vitest/config'

/** They install packages, kill processes or send hundreds of thousands of plants; `pnpm test:all` runs them. */
const SLOW = ['test/login.test.ts', 'test/**/*.slow.test.ts']

/** Processes and disks of a machine that is busy with other tests take their time. */
const patient = (ms: number) => ({
  testTimeout: ms,
  hookTimeout: ms,
  expect: { poll: { timeout: 20_000 } },
})

const include = ['test/**/*.test.ts']

export default defineConfig({
  test: {
    projects: [
      // What `pnpm test` runs.
      { test: { name: 'cli', include, exclude: SLOW, isolate: false, ...patient(60_000) } },
      { test: { name: 'slow', include: SLOW, ...patient(300_000) } },
    ],
  },
})
