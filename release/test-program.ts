import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { buildProgram } from './program.ts'
import { ROOT, readVersion } from './release.ts'

// Runs those tests of the server that start its program, with the bundle of a release as the
// program. Arguments are vitest's, such as a file.

// Within the repository, which is what the permission model lets the tests' servers read.
const folder = join(ROOT, 'dist/program')
await buildProgram('server', folder, readVersion())

const [, , ...given] = process.argv
const filters = given.length > 0 ? given : ['test/process', 'test/commands', 'test/store']
const projects = ['--project', 'server', '--project', 'slow']
const { status } = spawnSync('vitest', ['run', ...projects, ...filters], {
  cwd: join(ROOT, 'apps/server'),
  env: { ...process.env, TESTED_PROGRAM: join(folder, 'main.js') },
  stdio: 'inherit',
})
process.exitCode = status ?? 1
