import { defineConfig } from 'vitest/config'

/** Processes and disks of a machine that is busy with other tests take their time. */
const patient = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 20_000 } },
}

/** They install packages, kill processes or send hundreds of thousands of plants; `pnpm test:all` runs them. */
const SLOW = ['test/login.test.ts', 'test/**/*.slow.test.ts']

export default defineConfig({
  test: {
    projects: [
      // What `pnpm test` runs.
      {
        test: {
          name: 'cli',
          include: ['test/**/*.test.ts'],
          exclude: SLOW,
          isolate: false,
          ...patient,
        },
      },
      {
        test: {
          name: 'slow',
          include: SLOW,
          ...patient,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
})
