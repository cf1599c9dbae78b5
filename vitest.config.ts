import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import cli from './apps/cli/vitest.config.ts'
import interop from './apps/interop/vitest.config.ts'
import server from './apps/server/vitest.config.ts'
import docs from './docs/vitest.config.ts'
import client from './packages/client/vitest.config.ts'
import release from './release/vitest.config.ts'

const packages = {
  'apps/server': server,
  'apps/cli': cli,
  'apps/interop': interop,
  docs,
  'packages/client': client,
  release,
}

/** The projects of a package, which its own folder runs by their own names. */
function projectsOf([folder, { test }]: [string, typeof server]): TestProjectInlineConfiguration[] {
  return (test?.projects ?? []).map((project) => {
    const { test: own, ...more } = project as TestProjectInlineConfiguration
    const name = own?.name === basename(folder) ? own.name : `${basename(folder)}: ${own?.name}`
    return { ...more, root: join(import.meta.dirname, folder), test: { ...own, name } }
  })
}

export default defineConfig({
  test: {
    // Most of them wait, for processes and for time; by default a machine with two cores runs one.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      // Thousands of generated cases take their time.
      {
        root: 'packages/contract',
        test: { name: 'contract', testTimeout: 30_000, isolate: false },
      },
      { root: 'apps/benchmark', test: { name: 'benchmark' } },
      ...Object.entries(packages).flatMap(projectsOf),
    ],
  },
})
