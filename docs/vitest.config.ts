import { defineConfig } from 'vitest/config'

/** They install into copies of the repository; `pnpm test:all` runs them. */
const IN_COPIES = ['first-plant', 'operations', 'other-languages', 'spreadsheet'].map(
  (name) => `test/${name}.test.ts`,
)

const testTimeout = 30_000

export default defineConfig({
  test: {
    projects: [
      {
        test: { name: 'docs', include: ['test/*.test.ts'], exclude: IN_COPIES, testTimeout },
      },
      { test: { name: 'in copies', include: IN_COPIES, testTimeout } },
    ],
  },
})
