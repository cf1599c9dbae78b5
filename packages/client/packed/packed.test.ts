import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../runtimes/needs.ts'
import { type RealServer, startRealServer } from '../runtimes/real-server.ts'

const run = promisify(execFile)
const PACKAGE = join(import.meta.dirname, '..')
const CONTRACT = join(PACKAGE, '../contract')
const ATTW = join(import.meta.dirname, 'tools/node_modules/@arethetypeswrong/cli/dist/index.js')

let folder: string
let server: RealServer
const tarballs = new Map<string, string>()

/** Packs a package as it is published. */
function pack(from: string): void {
  const args = ['-y', 'pnpm@12.16.0', 'pack', '--json', '--pack-destination', folder]
  const output = execFileSync('npx', args, { cwd: from, encoding: 'utf8' })
  tarballs.set(from, JSON.parse(output.slice(output.indexOf('{'))).filename)
}

beforeAll(async () => {
  folder = mkdtempSync(join(PACKAGE, 'node_modules/.packed-'))
  for (const from of [PACKAGE, CONTRACT]) {
    pack(from)
    const to = join(folder, 'node_modules/@plant-store', from === PACKAGE ? 'client' : 'contract')
    execFileSync('mkdir', ['-p', to])
    execFileSync('tar', ['-xzf', String(tarballs.get(from)), '--strip-components=1', '-C', to])
  }
  server = await startRealServer()
})

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await server.endAndRead()
})

const STORE = `
const plant = await createPlantStoreClient().createPlant({ id: 7, name: 'Fern' })
const { status } = await createRestClient().createPlant({ body: { id: 2n ** 63n - 1n, name: 'Moss' } })
console.log(plant.name, status)`

test.each([
  [
    'imported as a module',
    'module',
    `import { createPlantStoreClient } from '@plant-store/client'
    import { createRestClient } from '@plant-store/client/rest'${STORE}`,
  ],
  [
    'required as CommonJS',
    'commonjs',
    `const { createPlantStoreClient } = require('@plant-store/client')
    const { createRestClient } = require('@plant-store/client/rest')
    async function store() {${STORE}}
    store()`,
  ],
])('the packed client stores plants where it is %s', async (_how, type, program) => {
  const env = { PLANT_STORE_BASE_URL: server.url, PLANT_STORE_TOKEN: server.token }
  const args = [`--input-type=${type}`, '--eval', program]
  const { stdout } = await run(process.execPath, args, { cwd: folder, env })
  expect(stdout).toBe('Fern 200\n')
  expect(server.readNames().get(2n ** 63n - 1n)).toBe('Moss')
})

test('the packed contract is imported, with its cases', async () => {
  const program = `import { contract, encodeJson, NewPlant } from '@plant-store/contract'
    import cases from '@plant-store/contract/cases/valid.json' with { type: 'json' }
    console.log(contract.createPlant.path, encodeJson(NewPlant.parse({ id: 7, name: '' })), cases.length > 0)`
  const args = ['--no-warnings', '--input-type=module', '--eval', program]
  const { stdout } = await run(process.execPath, args, { cwd: folder })
  expect(stdout).toBe('/plants {"id":7,"name":""} true\n')
})

test.each([
  [PACKAGE, 'node16'],
  [CONTRACT, 'esm-only'],
])(
  'a program finds the types of %s wherever it finds the code',
  needs('are-the-types-wrong', existsSync(ATTW)),
  async (from, profile) => {
    const args = [ATTW, String(tarballs.get(from)), '--profile', profile]
    expect((await run(process.execPath, args)).stdout).toContain('🟢')
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
  const { stdout } = await run(process.execPath, args, { cwd: folder }).catch((failed) => failed)
  expect(stdout).toBe('')
})

describe('minified and gzipped', () => {
  /** What a program carries that imports something of the client, in KiB. */
  async function sizeOf(imported: string): Promise<number> {
    const { outputFiles } = await build({
      stdin: { contents: `export ${imported} from './dist/index.js'`, resolveDir: PACKAGE },
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
    })
    return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length / 1_024
  }

  test('the whole client is at most 20 KiB, zod included, and the bulk is left out where it is not used', async () => {
    const [one, all] = [await sizeOf('{ createPlantStoreClient }'), await sizeOf('*')]
    expect(all).toBeLessThanOrEqual(20)
    expect(all - one).toBeGreaterThan(0.8)
  })
})

test('the declarations say something of each export and each member', () => {
  for (const entry of ['index', 'rest']) {
    const lines = readFileSync(join(PACKAGE, `dist/${entry}.d.ts`), 'utf8').split('\n')
    const isSaid = (at: number) => /\*\/\s*$/.test(lines[at - 1] ?? '')
    const silent = lines.filter(
      (line, at) => /^export /.test(line) && !/^export \{/.test(line) && !isSaid(at),
    )
    expect(silent).toEqual([])
  }
})
