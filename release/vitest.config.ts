import { defineConfig } from 'vitest/config'

const time = { testTimeout: 120_000, hookTimeout: 300_000 }

/** What `pnpm test:all` runs. The others install what is released: `pnpm release:test`, in a job of its own. */
const QUICK = ['test/{packages,program}.test.ts']

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'release', include: QUICK, ...time } },
      { test: { name: 'installed', include: ['test/*.test.ts'], exclude: QUICK, ...time } },
    ],
  },
})
