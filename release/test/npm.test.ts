import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { plainEnvironment } from '../../docs/test/fresh-copy.ts'
import { blocksOf, blockWith, documents } from '../../docs/test/markdown.ts'
import { temporaryFolder } from '../../test/temporary-folder.ts'
import { ROOT } from '../release.ts'
import { buildRelease, fileIn, startReleased } from './released.ts'

const FERN = '{"id":9223372036854775807,"name":"Fern","tag":"indoor"}'
const MOSS = '{"id":9223372036854775807,"name":"Moss"}'

const here = temporaryFolder(afterAll)
const old = join(here, 'old')
const next = join(here, 'next')
const tarball = (folder: string, name: string) => fileIn(folder, `plant-store-${name}-*.tgz`)

const findOnPath = (name: string) =>
  spawnSync('sh', ['-c', `command -v ${name}`], { env: plainEnvironment(), encoding: 'utf8' })
    .stdout

/** Nothing of this repository: a home, a cache, and the Node.js that runs this test. */
const person = {
  HOME: join(here, 'home'),
  PATH: [dirname(process.execPath), dirname(findOnPath('npm')), '/usr/bin', '/bin'].join(':'),
  npm_config_cache: join(here, 'cache'),
  npm_config_update_notifier: 'false',
}
const environment = { ...plainEnvironment(), ...person }

beforeAll(() => {
  mkdirSync(person.HOME)
  buildRelease(old, '--only', 'npm')
  buildRelease(next, '--only', 'npm', '--as-version', '1.0.9')
})

/** A folder for data, and one into which npm installs. */
function createPlace() {
  const folder = mkdtempSync(join(here, 'place-'))
  const prefix = join(folder, 'prefix')
  mkdirSync(prefix)
  const npm = (command: string, what: string) => {
    const flags = ['--global', '--prefix', prefix, '--no-audit', '--no-fund', '--offline']
    execFileSync('npm', [command, ...flags, what], { cwd: here, env: environment, stdio: 'pipe' })
  }
  const bin = join(prefix, 'bin/plant-store-server')
  const start = (token?: string) => startReleased(folder, `exec ${bin}`, person, token)
  return { folder, prefix, bin, npm, start }
}

test('the server is installed, killed, upgraded and removed, and keeps its plants', async () => {
  const { bin, npm, start } = createPlace()
  npm('install', tarball(old, 'server'))
  const first = await start()
  expect(await first.store(FERN)).toEqual({ status: 200, isReplay: false })
  await first.kill()

  npm('install', tarball(next, 'server'))
  const upgraded = await start(first.token)
  expect(upgraded.version).toBe('1.0.9')
  expect(first.version).not.toBe('1.0.9')
  expect(await upgraded.store(FERN)).toEqual({ status: 200, isReplay: true })
  expect(await upgraded.store(MOSS)).toEqual({ status: 400, isReplay: false })
  await upgraded.kill()

  npm('uninstall', '@plant-store/server')
  expect(existsSync(bin)).toBe(false)
  npm('install', tarball(old, 'server'))
  expect(await (await start(first.token)).store(FERN)).toEqual({ status: 200, isReplay: true })
})

describe('what a document says', () => {
  const SHOWN = './dist/release/plant-store-server-*.tgz'
  const blocks = documents.flatMap(blocksOf).filter(({ text }) => text.includes(SHOWN))

  test('is how to install a server', () => expect(blocks).toHaveLength(1))

  test.each(blocks)('in $document starts a server: $text', async ({ text }) => {
    const { folder, prefix } = createPlace()
    const path = [join(prefix, 'bin'), person.PATH].join(':')
    const server = await startReleased(folder, text.replace(SHOWN, tarball(old, 'server')), {
      ...person,
      PATH: path,
      npm_config_prefix: prefix,
    })
    expect((await server.store(FERN)).status).toBe(200)
    expect(await server.kill()).toContain('Store a plant:\n\n  curl -i')
  })
})

test('the command line stores a plant', async () => {
  const { npm, prefix, start } = createPlace()
  npm('install', tarball(old, 'server'))
  const { text } = blockWith('docs/importing.md', 'npm install')
  const line = text.replace('./dist/release/plant-store-cli-*.tgz', tarball(old, 'cli'))
  execFileSync('sh', ['-c', line], { env: { ...environment, npm_config_prefix: prefix } })
  const { url, token } = await start()
  const env = { ...environment, PLANT_STORE_BASE_URL: url, PLANT_STORE_TOKEN: token }
  const run = (...args: string[]) =>
    execFileSync(join(prefix, 'bin/plant-store'), args, { env, encoding: 'utf8' })
  expect(run('create', '9223372036854775807', 'Fern')).toContain('9223372036854775807 "Fern"')
  const { version } = JSON.parse(readFileSync(join(ROOT, 'apps/cli/package.json'), 'utf8'))
  expect(run('--version')).toBe(`${version}\n`)
})

const olderNode = findOnPath('node').trim()
test.skipIf(olderNode === '')('a Node.js that is too old gets one sentence', () => {
  const { bin, folder, npm } = createPlace()
  npm('install', tarball(old, 'server'))
  const env = { ...environment, PATH: [dirname(olderNode), person.PATH].join(':') }
  const { status, stderr } = spawnSync(bin, { cwd: folder, env, encoding: 'utf8' })
  expect(stderr).toMatch(
    /^plant-store-server: Node\.js \d+\.\d+\.\d+.* is too old\. Try: Node\.js 24 or newer\n$/,
  )
  expect(status).toBe(78)
})
