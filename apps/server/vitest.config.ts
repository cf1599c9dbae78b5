import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** Processes and disks of a machine that is busy with other tests take their time. */
const patient = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 20_000 } },
  // A thread that a test starts from its source has its types stripped by WebAssembly, some of whose
  // code Node.js 24 can free twice (like nodejs/node#64500): a crash that takes thousands of threads.
  execArgv: ['--no-wasm-code-gc'],
}

/** They wait for time, for crashes or for other programs; `pnpm test:all` runs them. */
const SLOW = [
  'test/auth/late.test.ts',
  'test/http/pace.test.ts',
  'test/wire/store-failures.test.ts',
  'test/one-definition/*.test.ts',
  'test/commands/{file-modes,in-terminal,litestream,restore}.test.ts',
  'test/limits/{bounds,lingering}.test.ts',
  'test/telemetry/{alerts,failures,prometheus,secrets,traces}.test.ts',
  'test/postgres/{citus,commands,crashes,failover,outages,schemas}.test.ts',
  'test/process/{exceptions,failing-disk,full-disk,hardened-start,shutdown,sync-order}.test.ts',
  'test/sqlite/known-files.test.ts',
  'test/**/*.browser.test.ts',
  'soak/*.test.ts',
]

export default defineConfig({
  test: {
    // Most of them wait, for processes and for time; by default a machine with two cores runs one.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      // What `pnpm test` runs.
      {
        test: {
          name: 'server',
          include: ['test/**/*.test.ts'],
          exclude: SLOW,
          // A worker runs many files: to start one for each takes a sixth of the time.
          isolate: false,
          ...patient,
        },
      },
      { test: { name: 'slow', include: SLOW, ...patient, testTimeout: 120_000 } },
      {
        test: {
          ...patient,
          name: 'wire over PostgreSQL',
          include: ['test/wire/*.test.ts'],
          globalSetup: 'test/postgres/start-for-wire.ts',
        },
      },
      {
        test: {
          ...patient,
          name: 'as the unit starts it',
          include: ['test/wire/*.test.ts', 'test/telemetry/{metrics*,page}.test.ts'],
          // They start no process, and so none that flags could confine.
          exclude: ['test/wire/in-process.test.ts'],
          provide: { isConfined: true },
        },
      },
    ],
  },
})
