import { defineConfig } from 'vitest/config'

/** They install into copies of the repository; `pnpm test:all` runs them. */
const IN_COPIES = ['test/first-plant.test.ts', 'test/server-commands.test.ts']

/** Processes of a machine that is busy with other tests take their time. */
const patient = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 20_000 } },
}

export default defineConfig({
  test: {
    projects: [
      {
        test: { name: 'docs', include: ['test/*.test.ts'], exclude: IN_COPIES, ...patient },
      },
      { test: { name: 'in copies', include: IN_COPIES, ...patient } },
    ],
  },
})
