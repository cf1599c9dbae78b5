import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'server', include: ['test/**/*.test.ts'] } },
      {
        test: {
          name: 'wire over PostgreSQL',
          include: ['test/wire/*.test.ts'],
          globalSetup: 'test/postgres/start-for-wire.ts',
        },
      },
    ],
  },
})
