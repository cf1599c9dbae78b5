import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { needs } from '../../../test/needs.ts'
import { startRestartableServer } from '../../../test/restartable-server.ts'

const PACKAGE = join(import.meta.dirname, '..')
const CONTRACT = join(PACKAGE, '../contract')
const ATTW = join(import.meta.dirname, 'tools/node_modules/@arethetypeswrong/cli/dist/index.js')

let folder: string
const server = await startRestartableServer([], afterAll)
const tarballs = new Map<string, string>()

/** Packs a package as it is published, and unpacks it where a program beside it finds it. */
function install(from: string): void {
  const args = ['-y', 'pnpm@12.16.0', 'pack', '--json', '--pack-destination', folder]
  const output = execFileSync('npx', args, { cwd: from, encoding: 'utf8' })
  const { filename } = JSON.parse(output.slice(output.indexOf('{')))
  tarballs.set(from, filename)
  const to = join(folder, 'node_modules/@plant-store', basename(from))
  mkdirSync(to, { recursive: true })
  execFileSync('tar', ['-xzf', filename, '--strip-components=1', '-C', to])
}

/** Runs a program that finds what is installed; gives what it prints. */
async function run(args: readonly string[], env = {}): Promise<string> {
  return (await promisify(execFile)(process.execPath, args, { cwd: folder, env })).stdout
}

beforeAll(() => {
  folder = mkdtempSync(join(PACKAGE, 'node_modules/.packed-'))
  for (const from of [PACKAGE, CONTRACT]) install(from)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each([
  ['module', (name: string, from: string) => `import { ${name} } from '${from}'`],
  ['commonjs', (name: string, from: string) => `const { ${name} } = require('${from}')`],
])('the packed client stores plants from a %s', async (type, load) => {
  const program = `${load('createPlantStoreClient', '@plant-store/client')}
    ${load('createRestClient', '@plant-store/client/rest')}
    async function store() {
      const plant = await createPlantStoreClient().createPlant({ id: 7, name: 'Fern' })
      const body = { id: 2n ** 63n - 1n, name: 'Moss' }
      console.log(plant.name, (await createRestClient().createPlant({ body })).status)
    }
    store()`
  const env = { PLANT_STORE_BASE_URL: server.url, PLANT_STORE_TOKEN: server.token }
  expect(await run([`--input-type=${type}`, '--eval', program], env)).toBe('Fern 200\n')
  expect(server.readPlants().get(2n ** 63n - 1n)?.name).toBe('Moss')
})

test('the packed contract is imported, with its cases', async () => {
  const program = `import { contract, encodeJson, NewPlant } from '@plant-store/contract'
    import cases from '@plant-store/contract/cases/valid.json' with { type: 'json' }
    console.log(contract.createPlant.path, encodeJson(NewPlant.parse({ id: 7, name: '' })), cases.length > 0)`
  const args = ['--no-warnings', '--input-type=module', '--eval', program]
  expect(await run(args)).toBe('/plants {"id":7,"name":""} true\n')
})

test.each([
  [PACKAGE, 'node16'],
  [CONTRACT, 'esm-only'],
])(
  'a program finds the types of %s wherever it finds the code',
  needs('are-the-types-wrong', existsSync(ATTW)),
  async (from, profile) => {
    expect(await run([ATTW, String(tarballs.get(from)), '--profile', profile])).toContain('🟢')
  },
)

test('a program that uses it compiles at the strictest', async () => {
  const program = `import { createPlantStoreClient, createPlants, type PlantStoreError } from '@plant-store/client'
    const client = createPlantStoreClient({ timeoutMs: 5, onEvent: ({ type }) => type })
    export async function store(): Promise<PlantStoreError | undefined> {
      for await (const { ok, index } of createPlants(client, [{ id: 7n, name: 'Fern' }])) if (!ok) console.log(index)
      const result = await client.tryCreatePlant({ id: 7, name: 'Fern', tag: 'shade' })
      return result.ok ? undefined : result.error
    }`
  writeFileSync(join(folder, 'program.mts'), program)
  const flags =
    '--ignoreConfig --noEmit --strict --exactOptionalPropertyTypes --module nodenext --lib es2022,dom'
  const tsc = join(PACKAGE, 'node_modules/typescript/bin/tsc')
  const args = [tsc, ...flags.split(' '), 'program.mts']
  expect(await run(args).catch(({ stdout }) => stdout)).toBe('')
})

/** What a program carries that imports something of the client, minified and gzipped, in KiB. */
async function sizeOf(imported: string): Promise<number> {
  const stdin = { contents: `export ${imported} from './dist/index.js'`, resolveDir: PACKAGE }
  const form = { bundle: true, minify: true, format: 'esm', platform: 'browser' } as const
  const { outputFiles } = await build({ stdin, write: false, target: 'es2022', ...form })
  return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length / 1_024
}

test('the whole client is at most 17 KiB, zod included, and the bulk is left out where it is not used', async () => {
  const [one, all] = [await sizeOf('{ createPlantStoreClient }'), await sizeOf('*')]
  expect(all).toBeLessThanOrEqual(17)
  expect(all - one).toBeGreaterThan(0.8)
})

test.each(['index', 'rest'])('the declarations of %s say something of each export', (entry) => {
  const declarations = readFileSync(join(PACKAGE, `dist/${entry}.d.ts`), 'utf8')
  expect(declarations.match(/(?<!\*\/\s*\n)^export (?!\{).*/gm)).toBeNull()
})
