import { execFile, execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../../../packages/client/runtimes/needs.ts'
import { findRuntimes } from '../../../packages/client/runtimes/runtimes.ts'
import { buildRelease } from '../../../release/test/released.ts'
import { startServer } from './helpers/server.ts'

const run = promisify(execFile)

let folder: string
let prefix: string
let installed: string

/** Installed for everybody, from the tarball that is released, with nothing else. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'plant-store-installed-'))
  buildRelease(join(folder, 'release'), '--only', 'npm')
  const [file = ''] = globSync('plant-store-cli-*.tgz', { cwd: join(folder, 'release') })
  const tarball = join(folder, 'release', file)
  prefix = join(folder, 'prefix')
  mkdirSync(prefix)
  const flags = ['--global', '--prefix', prefix, '--offline', '--no-audit', '--no-fund']
  execFileSync('npm', ['install', ...flags, tarball], { cwd: folder, stdio: 'ignore' })
  installed = join(prefix, 'lib/node_modules/@plant-store/cli')
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files
    .map((file) => relative(folder, join(file.parentPath, file.name)))
    .filter((file) => !file.startsWith('node_modules/'))
    .toSorted()
}

test('the tarball holds the program, its licences and words, and no sources', () => {
  expect(filesIn(installed)).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'LICENSES.md',
    'README.md',
    'main.js',
    'package.json',
  ])
  const licences = readFileSync(join(installed, 'LICENSES.md'), 'utf8')
  expect(licences).toContain('The Plant Store authors')
  expect(licences).toContain('## zod')
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  expect(manifest.dependencies).toBeUndefined()
})

describe.each(findRuntimes().filter(({ kind }) => kind === 'node'))(
  'installed for everybody on $title',
  ({ title, program }) => {
    const options = needs(title, program !== undefined)

    test('stores a plant, and checks a row', options, async () => {
      const node = program ?? ''
      const server = await startServer()
      const env = {
        HOME: prefix,
        PATH: [dirname(node), '/usr/bin', '/bin'].join(delimiter),
        PLANT_STORE_BASE_URL: server.url,
        PLANT_STORE_TOKEN: server.token,
      }
      const bin = join(prefix, 'bin/plant-store')
      const { stdout } = await run(bin, ['create', '-5', 'Fern'], { env })
      expect(stdout).toBe('Stored -5 "Fern".\n')
      expect(server.readPlants().size).toBe(1)
      const checked = await run('sh', ['-c', `echo '{"id":1,"name":"x"}' | "${bin}" check -`], {
        env,
      })
      expect(checked.stdout).toBe('stdin: 1 row is a plant\n')
    })
  },
)
