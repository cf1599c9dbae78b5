import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.ts'
import { describeLicences, type UsedPackage } from '../licences.ts'
import { buildProgram, refuseDynamicCommonJs, replaceModules } from '../program.ts'
import { ROOT } from '../release.ts'
import { type ReleasedServer, startReleased } from './released.ts'

const FERN = '{"id":-9223372036854775808,"name":"Fern"}'

const here = temporaryFolder(afterAll)
const program = join(here, 'program')
let packages: readonly UsedPackage[]

beforeAll(async () => {
  packages = await buildProgram('server', program, '1.2.3')
})

/** A server with a folder of its own. */
function start(name: string, main: string, flags: readonly string[]): Promise<ReleasedServer> {
  const folder = join(here, name)
  mkdirSync(folder)
  return startReleased(folder, ['exec', process.execPath, ...flags, main].join(' '))
}

/** The document, the page, and what the page loads. */
async function readPages({ url }: ReleasedServer): Promise<string[]> {
  const get = async (path: string) => {
    const response = await fetch(url + path)
    return `${response.status} ${path}\n${(await response.text()).replaceAll(url, 'URL')}`
  }
  const page = await get('/docs')
  const parts = Array.from(page.matchAll(/(?:src|href)="(docs\/[^"]+)"/g), ([, path]) => `/${path}`)
  expect(parts.length).toBeGreaterThan(1)
  return [page, ...(await Promise.all(['/openapi.json', ...parts].map(get)))]
}

describe('the bundle of the server', () => {
  test('answers like the build, with the right to read nothing but its folder', async () => {
    const confined = await start('confined', join(program, 'main.js'), [
      '--permission',
      `--allow-fs-read=${program}`,
      `--allow-fs-read=${here}/confined`,
      `--allow-fs-write=${here}/confined`,
      '--allow-worker',
    ])
    const built = await start('built', join(ROOT, 'apps/server/dist/main.js'), [])
    const pages = await readPages(confined)
    for (const page of pages) expect(page).toMatch(/^200 /)
    expect(pages).toEqual(await readPages(built))
    expect((await confined.store(FERN)).status).toBe(200)
    expect(confined.version).toBe('1.2.3')
  })

  test('leaves __proto__ to no object, in the main thread and in the one that commits', async () => {
    const script = `process.on('exit', () => require('node:fs').writeSync(2, 'inherits: ' + ('__proto__' in {}) + ';'))`
    const hook = join(here, 'hook.cjs')
    writeFileSync(hook, script)
    const server = await start('threads', join(program, 'main.js'), ['--require', hook])
    await server.store(FERN)
    process.kill(server.pid, 'SIGTERM')
    const said = (await server.ended).match(/inherits: \w+/g) ?? []
    expect(said.length).toBeGreaterThanOrEqual(2)
    expect(new Set(said)).toEqual(new Set(['inherits: false']))
  })

  test('comes with the licences of all that is in it, which ask for nothing but their text', () => {
    const names = packages.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['express', 'pg', 'pino', 'zod']))
    const text = readFileSync(join(program, 'LICENSES.md'), 'utf8')
    for (const { name, version, licenceText } of packages) {
      expect(text).toContain(`${name} ${version}`)
      expect(licenceText).toMatch(/copyright|apache license/i)
      expect(text).toContain(licenceText)
    }
    const strict = { name: 'strict', version: '1.0.0', licence: 'AGPL-3.0', licenceText: '' }
    expect(() => describeLicences([...packages, strict])).toThrow(
      'the licence of strict is not permitted: AGPL-3.0',
    )
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
