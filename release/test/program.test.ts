import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { page } from '@plant-store/server/http/docs/page.js'
import { overviewFiles } from '@plant-store/server/telemetry/overview/overview.js'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findOthers } from '../../docs/write-licences.ts'
import { buildProgram } from '../program/build-program.ts'
import type { UsedPackage } from '../program/packages.ts'
import { refuseDynamicCommonJs } from '../program/refuse-dynamic-common-js.ts'
import { replaceModules } from '../program/replace-modules.ts'
import { ROOT } from '../root.ts'
import { createFolder } from './build.ts'
import { type InstalledServer, startInstalled } from './installed-server.ts'

const here = createFolder()
const program = join(here, 'program')
const FERN = '{"id":-9223372036854775808,"name":"Fern"}'
const PUBLIC = [...page.paths, '/openapi.json', '/openapi.yaml']

let packages: readonly UsedPackage[]

beforeAll(async () => {
  packages = await buildProgram('server', program, '1.2.3')
})

afterAll(() => rmSync(here, { recursive: true, force: true }))

/** A server with a folder of its own, in which it may read and write, and the operator's pages. */
function start(name: string, main: string, flags: readonly string[]): Promise<InstalledServer> {
  const folder = join(here, name)
  mkdirSync(folder)
  return startInstalled(folder, ['exec', process.execPath, ...flags, main].join(' '))
}

async function read({ get, operationsUrl }: InstalledServer) {
  const urls = [
    ...PUBLIC.map((path) => get(path)),
    ...overviewFiles.paths.map((path) => fetch(`${operationsUrl}${path}`)),
  ]
  const replies = await Promise.all(urls)
  return Promise.all(
    replies.map(async (reply) => [
      new URL(reply.url).pathname,
      reply.status,
      (await reply.text()).replaceAll(/127\.0\.0\.1:\d+/g, 'HOST'),
    ]),
  )
}

describe('the bundle of the server', () => {
  test('answers like the build, with the right to read nothing but its folder', async () => {
    const flags = [
      '--permission',
      `--allow-fs-read=${program}`,
      `--allow-fs-read=${here}/confined`,
      `--allow-fs-write=${here}/confined`,
      '--allow-worker',
    ]
    const confined = await start('confined', join(program, 'main.js'), flags)
    const built = await start('built', join(ROOT, 'apps/server/dist/main.js'), [])
    const replies = await read(confined)
    expect(replies.map(([, status]) => status)).toEqual(replies.map(() => 200))
    expect(replies).toEqual(await read(built))
    expect((await confined.store(FERN)).status).toBe(200)
    expect(confined.version).toBe('1.2.3')
  })

  test('commits and checks in threads, and leaves __proto__ to no object of any', async () => {
    const script = `process.on('exit', () => require('node:fs').writeSync(2, 'inherits: ' + ('__proto__' in {}) + ';'))`
    const hook = join(here, 'hook.cjs')
    writeFileSync(hook, script)
    const server = await start('threads', join(program, 'main.js'), ['--require', hook])
    await server.store(FERN)
    // Which its thread does ten seconds after the start.
    await server.print(/every plant was read and is undamaged/)
    const printed = await server.end()
    expect(printed.match(/inherits: \w+/g)).toEqual(Array(3).fill('inherits: false'))
  })

  test('comes with the licences of all that is in it, which ask for nothing but their text', () => {
    const names = packages.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['express', 'pg', 'pino', 'uplot', 'yaml', 'zod']))
    const text = readFileSync(join(program, 'LICENSES.md'), 'utf8')
    for (const { name, version, licenceText } of packages) {
      expect(text).toContain(`${name} ${version}`)
      expect(licenceText).toMatch(/copyright|apache license/i)
      expect(text).toContain(licenceText)
    }
    expect(findOthers(packages)).toEqual([])
  })
})

describe('a build that would be wrong is refused', () => {
  async function bundle(source: string, replaced: Record<string, string> = {}) {
    const file = join(here, 'source.ts')
    writeFileSync(file, source)
    writeFileSync(join(here, 'common.cjs'), 'exports.stringify = () => {}')
    const { metafile } = await build({
      entryPoints: [file],
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      outdir: join(here, 'out'),
      write: false,
      metafile: true,
      logLevel: 'silent',
      plugins: [replaceModules(replaced)],
    })
    refuseDynamicCommonJs(metafile)
  }

  test('where import() loads CommonJS, whose names it would not get', async () => {
    await bundle("import { stringify } from './common.cjs'\nstringify()")
    await expect(
      bundle("const { stringify } = await import('./common.cjs')\nstringify()"),
    ).rejects.toThrow(/source\.ts loads .*common\.cjs with import\(\), which is CommonJS/)
  })

  test('where nothing imports a module that is to be replaced', async () => {
    const path = join(here, 'moved.ts')
    await expect(bundle('export {}', { [path]: path })).rejects.toThrow(`nothing imports ${path}`)
  })
})
