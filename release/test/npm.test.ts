import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { packInstalled } from '../../packages/client/packed/packages.ts'
import { needs } from '../../packages/client/runtimes/needs.ts'
import { findOnPath } from '../../packages/client/runtimes/runtimes.ts'
import { ROOT } from '../root.ts'
import { buildRelease, createFolder } from './build.ts'
import { plainEnvironment, runInShell, startInstalled } from './installed-server.ts'
import { startRegistry } from './registry.ts'

const FERN = '{"id":9223372036854775807,"name":"Fern","tag":"indoor"}'
const MOSS = '{"id":9223372036854775807,"name":"Moss"}'
const STORED = '{"name":"Fern","tag":"indoor"}'

const here = createFolder()
const OLD = join(here, 'old')
const NEXT = join(here, 'next')
const tarball = (folder: string, name: string) =>
  join(
    folder,
    readdirSync(folder).find(
      (file) => file.startsWith(`plant-store-${name}-`) && file.endsWith('.tgz'),
    ) ?? name,
  )

/** Nothing of this repository: a home, a cache, and the Node.js that runs this test. */
const person = {
  HOME: join(here, 'home'),
  PATH: [dirname(process.execPath), dirname(findOnPath('npm') ?? ''), '/usr/bin', '/bin'].join(':'),
  npm_config_cache: join(here, 'cache'),
  npm_config_update_notifier: 'false',
}
const environment = { ...plainEnvironment(), ...person }

function npm(...args: string[]): void {
  execFileSync('npm', [...args, '--no-audit', '--no-fund', '--offline'], {
    cwd: here,
    env: environment,
    stdio: 'pipe',
  })
}

beforeAll(() => {
  mkdirSync(person.HOME)
  buildRelease(OLD, '--only', 'npm')
  buildRelease(NEXT, '--only', 'npm', '--as-version', '1.0.9')
})

afterAll(() => rmSync(here, { recursive: true, force: true }))

function createPlace() {
  const folder = mkdtempSync(join(here, 'place-'))
  const prefix = join(folder, 'prefix')
  mkdirSync(prefix)
  const bin = join(prefix, 'bin/plant-store-server')
  return {
    folder,
    prefix,
    bin,
    install: (path: string) => npm('install', '--global', '--prefix', prefix, path),
    uninstall: () => npm('uninstall', '--global', '--prefix', prefix, '@plant-store/server'),
    start: (token?: string) => startInstalled(folder, `exec ${bin}`, person, token),
  }
}

test('the server is installed, killed, started, upgraded and removed, and keeps its plants', async () => {
  const place = createPlace()
  place.install(tarball(OLD, 'server'))
  expect(readdirSync(join(place.prefix, 'lib/node_modules'))).toEqual(['@plant-store'])
  expect(readdirSync(join(place.prefix, 'lib/node_modules/@plant-store'))).toEqual(['server'])

  const first = await place.start()
  expect(await first.store(FERN)).toEqual({ status: 200, text: STORED, isReplay: false })
  await first.kill()
  const again = await place.start(first.token)
  expect(await again.store(FERN)).toEqual({ status: 200, text: STORED, isReplay: true })
  expect((await again.store(MOSS)).status).toBe(400)
  await again.kill()

  place.install(tarball(NEXT, 'server'))
  const upgraded = await place.start(first.token)
  expect([again.version, upgraded.version]).toEqual([expect.stringMatching(/^1\.0\.[^9]/), '1.0.9'])
  expect(await upgraded.store(FERN)).toEqual({ status: 200, text: STORED, isReplay: true })
  await upgraded.kill()

  place.uninstall()
  const left = readdirSync(place.prefix, { recursive: true, withFileTypes: true })
  expect(left.filter((entry) => !entry.isDirectory())).toEqual([])
  place.install(tarball(OLD, 'server'))
  const back = await place.start(first.token)
  expect(await back.store(FERN)).toEqual({ status: 200, text: STORED, isReplay: true })
})

describe('what the registry gives', () => {
  const blocks = ['README.md', 'apps/server/README.md', 'docs/installing.md'].flatMap(
    (document) => {
      const text = readFileSync(join(ROOT, document), 'utf8')
      const found = text.matchAll(
        /```sh\n((?:npx -y|npm install -g) @plant-store\/server\n.*?)```/gs,
      )
      return Array.from(found, ([, block = '']) => ({ document, block: block.trim() }))
    },
  )

  test.each(blocks)('runs as $document says: $block', async ({ block }) => {
    const { folder, prefix } = createPlace()
    const registry = await startRegistry([tarball(OLD, 'server')])
    onTestFinished(() => void registry.close())
    const server = await startInstalled(folder, block, {
      ...person,
      PATH: [join(prefix, 'bin'), person.PATH].join(':'),
      npm_config_registry: registry.url,
      npm_config_prefix: prefix,
    })
    expect((await server.store(FERN)).status).toBe(200)
    expect(await server.kill()).toContain('Store a plant:\n\n  curl -i')
  })

  test('is named in messages as it was called', async () => {
    const { folder } = createPlace()
    const registry = await startRegistry([tarball(OLD, 'server')])
    onTestFinished(() => void registry.close())
    const given = { ...person, npm_config_registry: registry.url }
    const { ended } = runInShell(folder, 'npx -y @plant-store/server token lis', given)
    expect(await ended).toContain('Try: npx -y @plant-store/server --help')
  })

  test('is the client and the contract, by their names', () => {
    const { folder } = createPlace()
    const files = ['client', 'contract'].map((name) => tarball(OLD, name))
    const zod = packInstalled(join(ROOT, 'packages/contract/node_modules/zod'), here)
    execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', ...files, zod], {
      cwd: folder,
      env: environment,
    })
    const script = `
      import { createPlantStoreClient } from '@plant-store/client'
      import { NewPlant } from '@plant-store/contract'
      console.log(typeof createPlantStoreClient, NewPlant.safeParse(${MOSS.replace('807', '807n')}).data.id)`
    const args = ['--input-type=module', '--eval', script]
    expect(execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })).toBe(
      'function 9223372036854775807n\n',
    )
  })

  test('is the command line, which stores a plant', async () => {
    const place = createPlace()
    place.install(tarball(OLD, 'server'))
    place.install(tarball(OLD, 'cli'))
    const { url, token } = await place.start()
    const given = { ...environment, PLANT_STORE_BASE_URL: url, PLANT_STORE_TOKEN: token }
    const command = join(place.prefix, 'bin/plant-store')
    const run = (...args: string[]) => execFileSync(command, args, { env: given, encoding: 'utf8' })
    expect(run('create', '9223372036854775807', 'Fern')).toBe(
      'Stored 9223372036854775807 "Fern".\n',
    )
    expect(run('--version')).toBe(
      `${JSON.parse(readFileSync(join(ROOT, 'apps/cli/package.json'), 'utf8')).version}\n`,
    )
  })
})

describe('what is wrong or missing gets one sentence', () => {
  const place = createPlace()
  /** What a start that fails says, in a shell of which nothing is needed but `sh`. */
  const run = (given: Record<string, string>) => {
    const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', `exec ${place.bin}`], {
      cwd: place.folder,
      env: { ...environment, ...given },
      encoding: 'utf8',
    })
    return { status, stdout, stderr }
  }

  beforeAll(() => place.install(tarball(OLD, 'server')))

  test('a port that is taken', async () => {
    const holder = createServer()
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void holder.close())
    const address = holder.address()
    const port = typeof address === 'object' ? address?.port : undefined
    expect(run({ PLANT_STORE_LISTEN: `127.0.0.1:${port}` })).toEqual({
      status: 69,
      stdout: '',
      stderr:
        `plant-store-server: cannot listen on host 127.0.0.1, port ${port}: EADDRINUSE. ` +
        'Choose another with PLANT_STORE_LISTEN or PLANT_STORE_OPERATIONS_LISTEN\n',
    })
  })

  test('a folder that is not writable', () => {
    expect(run({ PLANT_STORE_DATABASE_URL: 'sqlite:/proc/plants/plants.db' })).toEqual({
      status: 69,
      stdout: '',
      stderr: expect.stringMatching(
        /^plant-store-server: \/proc\/plants\/plants\.db cannot be opened: .+ Try: let this user write that folder .+\n$/,
      ),
    })
  })

  const old = findOnPath('node')
  test('a Node.js that is too old', needs('an older Node.js', old !== undefined), () => {
    expect(run({ PATH: [dirname(old ?? ''), person.PATH].join(':') })).toEqual({
      status: 78,
      stdout: '',
      stderr: expect.stringMatching(
        /^plant-store-server: Node\.js \d+\.\d+\.\d+, started as node, is too old\. Try: Node\.js 24 or newer\n$/,
      ),
    })
  })
})
