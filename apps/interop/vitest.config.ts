import { defineConfig } from 'vitest/config'

/** Each first use of a tool reads hundreds of files, on a machine that may have other work. */
const patience = { testTimeout: 120_000, hookTimeout: 120_000 }

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'interop', include: ['test/{document,page,proxies}.test.ts'], ...patience } },
      // They need compilers of other languages: `pnpm interop` runs them.
      { test: { name: 'clients', include: ['test/clients.test.ts'], ...patience } },
      // It takes minutes and Python: `pnpm interop:schemathesis` runs it.
      { test: { name: 'schemathesis', include: ['schemathesis/*.test.ts'], ...patience } },
    ],
  },
})
