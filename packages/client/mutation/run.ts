import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Stryker } from '@stryker-mutator/core'

/** Percentage of the changes to a file that must make a test fail. */
const THRESHOLD = 90

const FILES = [
  'applied.ts',
  'attempt.ts',
  'call.ts',
  'deadline.ts',
  'errors/api-error.ts',
  'errors/connection-error.ts',
  'errors/plant-store-error.ts',
  'errors/response-error.ts',
  'pace.ts',
  'plant-codec.ts',
  'reply.ts',
  'retry.ts',
  'scrubber.ts',
  'token.ts',
  'transport-failure.ts',
  'zod-mini.ts',
]

const named = process.argv.slice(2)
const files = named.length > 0 ? named : FILES

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const mutants = await new Stryker({
  mutate: files.map((file) => `src/${file}`),
  testRunner: 'vitest',
  plugins: [createRequire(import.meta.url).resolve('@stryker-mutator/vitest-runner')],
  vitest: { configFile: fileURLToPath(new URL('vitest.config.ts', import.meta.url)) },
  coverageAnalysis: 'perTest',
  reporters: ['clear-text', 'progress-append-only'],
  clearTextReporter: { logTests: false, reportTests: false, allowColor: false },
  // What a busy machine may add; a change that never ends is noticed all the same.
  timeoutMS: 10_000,
  // Its sandbox is elsewhere, so that the tsconfig above this package would not be found.
  ignorePatterns: ['packed', 'dist', 'mutation', 'tsconfig*.json'],
  tsconfigFile: 'none.json',
  tempDirName: '.mutants',
  cleanTempDir: 'always',
}).runMutationTest()

for (const file of files) {
  const own = mutants.filter(({ fileName }) => fileName.endsWith(`/src/${file}`))
  const seen = own.filter(({ status }) => status === 'Killed' || status === 'Timeout')
  const score = (100 * seen.length) / own.length
  console.log(`${file}: ${seen.length} of ${own.length}, ${score.toFixed(1)} %`)
  if (!(score >= THRESHOLD)) process.exitCode = 1
}
