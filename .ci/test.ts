import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'

/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly success: boolean
  readonly testResults: readonly {
    readonly name: string
    readonly assertionResults: readonly {
      readonly status: string
      /** Of a test that is skipped: what it needs and this machine does not have. */
      readonly meta: { readonly needs?: string }
    }[]
  }[]
}

const { values, positionals: tasks } = parseArgs({
  options: { 'no-skips': { type: 'boolean', default: false } },
  allowPositionals: true,
})

/** Where the packages that have a task leave its report. */
const files = globSync('{docs,release,packages/*,apps/*}/package.json').flatMap((path) => {
  const { scripts = {} } = JSON.parse(readFileSync(path, 'utf8'))
  const own = tasks.filter((task) => task in scripts)
  return own.map((task) => join(dirname(path), `${task.replace(':', '-')}-results.json`))
})

for (const file of files) rmSync(file, { force: true })
// Each of them starts processes itself: more at once, and what waits for a process runs out of time.
const flags = ['--concurrency=2', '--continue', '--output-logs=errors-only', '--log-prefix=none']
// A result of before may have skipped what this machine has by now.
if (values['no-skips']) flags.push('--force')
console.log('Builds, and runs the tests; prints what fails.')
const { status } = spawnSync('turbo', ['run', ...tasks, ...flags], { stdio: 'inherit' })

const missing = files.filter((file) => !existsSync(file))
const reports = files
  .filter((file) => !missing.includes(file))
  .map((file): Report => JSON.parse(readFileSync(file, 'utf8')))
const tests = reports.flatMap(({ testResults }) =>
  testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ status, meta }) => ({ name, status, needs: meta.needs })),
  ),
)
const passed = tests.filter((test) => test.status === 'passed').length
const failed = tests.filter((test) => test.status === 'failed').length
const skipped = tests.filter((test) => !['passed', 'failed'].includes(test.status))

for (const file of missing) console.log(`No tests have run: ${file} is missing.`)
console.log(`${passed} passed, ${failed} failed, ${skipped.length} skipped`)
for (const [reason, ones] of Map.groupBy(skipped, ({ needs, name }) => needs ?? `? (${name})`)) {
  console.log(`  ${ones.length} skipped: needs ${reason}`)
}
if (!tasks.includes('test:rest')) {
  console.log(`\`pnpm test:all\` also runs the client on other runtimes and as a package, other people's
programs on the OpenAPI document, the wire table over PostgreSQL and under the permission
model, proxies, browsers, kills, outages, load, fuzz, and the documents in fresh clones.`)
}

const isGood = status === 0 && missing.length === 0 && passed > 0 && failed === 0
const mayCount = reports.every(({ success }) => success)
process.exitCode = isGood && mayCount && !(values['no-skips'] && skipped.length > 0) ? 0 : 1
