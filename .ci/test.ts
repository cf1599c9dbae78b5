import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { startVitest } from 'vitest/node'
import type {} from '../test/needs.ts'

/** What `pnpm test` runs. */
const QUICK = ['contract', 'benchmark', 'server', 'cli', 'client', 'docs']

/** What needs compilers of other languages, some minutes or a machine of its own; has its own commands. */
const APART = ['interop: clients', 'interop: schemathesis', 'release: installed']

const { values, positionals } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    'no-skips': { type: 'boolean', default: false },
  },
  allowPositionals: true,
})

const { status } = spawnSync('turbo', ['run', 'build', '--output-logs=errors-only'], {
  stdio: ['ignore', 'ignore', 'inherit'],
})
if (status !== 0) process.exit(1)

const vitest = await startVitest('test', positionals, {
  watch: false,
  reporters: ['minimal'],
  project: values.all ? APART.map((name) => `!${name}`) : QUICK,
})
const modules = vitest.state.getTestModules()
const tests = modules.flatMap(({ children }) => [...children.allTests()])
const count = (state: string) => tests.filter((test) => test.result().state === state).length
// A file that does not load has no tests that could fail.
const broken = modules.filter((module) => module.errors().length > 0).length
const failed = count('failed') + broken + vitest.state.getUnhandledErrors().length
const skipped = tests.filter((test) => test.result().state === 'skipped')
const reasons = new Set(skipped.map((test) => test.meta().needs ?? test.fullName))
for (const reason of reasons) console.log(`skipped, because this machine lacks: ${reason}`)
await vitest.close()
const isGood = failed === 0 && count('passed') > 0 && !(values['no-skips'] && skipped.length > 0)
if (!isGood) process.exitCode = 1
console.log(`${count('passed')} passed, ${failed} failed, ${skipped.length} skipped`)
