import { defineConfig } from 'vitest/config'

/** They run many programs, and install into copies of the repository; `pnpm test:all` runs them. */
const SLOW = ['test/{damaged-pages,first-plant,server-commands,transcripts}.test.ts']

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
        test: { name: 'docs', include: ['test/*.test.ts'], exclude: SLOW, ...patient },
      },
      { test: { name: 'slow', include: SLOW, ...patient } },
    ],
  },
})
