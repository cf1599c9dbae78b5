import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { ROOT } from '../../../../test/root.ts'
import { post, runToEnd, startServerProcess } from '../../../../test/server-process.ts'
import { readPlants } from '../../../../test/sqlite-file.ts'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { ends } from '../commands/program.ts'
import { runShell } from '../commands/shell.ts'

const [CONTRACT, CLIENT, SERVER] = ['packages/contract', 'packages/client', 'apps/server'] as const

/** Text that stands in a file exactly once, and what replaces it. */
type Step = readonly [path: string, from: string, to: string]

/** An optional `height`, by the steps that CONTRIBUTING.md lists. */
const steps: readonly Step[] = [
  [
    `${CONTRACT}/src/plant.ts`,
    'tag: z.optional(text)',
    'tag: z.optional(text), height: z.optional(z.int32())',
  ],
  [
    `${CONTRACT}/src/openapi/schemas.ts`,
    '  tag: {\n',
    "  height: { description: 'In metres.', example: 3 },\n  tag: {\n",
  ],
  [
    `${SERVER}/src/store/plant-columns.ts`,
    '  tag: { isRequired: false, fromSql: String },\n',
    `  tag: { isRequired: false, fromSql: String },
  height: { isRequired: false, fromSql: Number },
`,
  ],
  [
    `${SERVER}/src/sqlite/migrations.ts`,
    ') STRICT`,\n  },\n]',
    `) STRICT\`,
  },
  { version: 3, name: 'height', sql: 'ALTER TABLE plants ADD COLUMN height INTEGER' },
]`,
  ],
]

/** Copies parts of a package, and links everything that it depends on but the contract. */
function copyPackage(copy: string, folder: string, parts: readonly string[]): void {
  for (const part of ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'src', ...parts]) {
    cpSync(join(ROOT, folder, part), join(copy, folder, part), { recursive: true })
  }
  const modules = join(copy, folder, 'node_modules')
  mkdirSync(join(modules, '@plant-store'), { recursive: true })
  symlinkSync(join(copy, CONTRACT), join(modules, '@plant-store/contract'))
  for (const place of ['', '@plant-store']) {
    const installed = join(ROOT, folder, 'node_modules', place)
    for (const name of existsSync(installed) ? readdirSync(installed) : []) {
      const target = join(modules, place, name)
      if (!existsSync(target)) symlinkSync(join(installed, name), target)
    }
  }
}

/** Runs a script in a package. @throws Error with what the compiler says */
function build(copy: string, folder: string, script: string): void {
  const cwd = join(copy, folder)
  const PATH = `${join(cwd, 'node_modules/.bin')}:${dirname(process.execPath)}:${process.env.PATH}`
  execFileSync('sh', ['-c', script], { cwd, env: { PATH }, encoding: 'utf8', stdio: 'pipe' })
}

test('the steps for a new field are those that CONTRIBUTING.md lists', () => {
  const text = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')
  const section = /\*\*A field of a plant\.\*\*.*?(?=\n\*\*)/s.exec(text)?.[0]
  const listed = Array.from(section?.matchAll(/^\d\. .*?`([^`]+\.ts)`/gm) ?? [], ([, path]) => path)
  expect(listed.slice(0, steps.length)).toEqual(steps.map(([path]) => path))
})

/** The program of a version with the field, and its client. */
async function buildNewer() {
  const copy = temporaryFolder()
  cpSync(join(ROOT, 'tsconfig.base.json'), join(copy, 'tsconfig.base.json'))
  copyPackage(copy, CONTRACT, ['openapi.json'])
  copyPackage(copy, CLIENT, ['write-declarations.ts'])
  copyPackage(copy, SERVER, ['dist'])
  for (const [path, from, to] of steps) {
    const parts = readFileSync(join(copy, path), 'utf8').split(from)
    expect(parts, path).toHaveLength(2)
    writeFileSync(join(copy, path), parts.join(to))
  }
  build(copy, CONTRACT, 'tsc -p tsconfig.build.json')
  build(copy, CLIENT, 'node --run build')
  build(copy, SERVER, 'tsc -p tsconfig.build.json')
  const built = pathToFileURL(join(copy, CLIENT, 'dist/index.js')).href
  const client = (await import(/* @vite-ignore */ built)) as typeof import('@plant-store/client')
  return { main: join(copy, SERVER, 'dist/main.js'), ...client }
}

/** The lines of operate.md that put the copy from before an upgrade in place. */
function linesBack(newer: string, plants: number): string {
  const [, lines = ''] =
    /^```sh\n(plant-store-server export > .*?)^```$/ms.exec(
      readFileSync(join(ROOT, 'docs/operate.md'), 'utf8'),
    ) ?? []
  return lines
    .replace('plant-store-server', `'${process.execPath}' '${newer}'`)
    .replace('schema-2.300', `schema-2.${plants}`)
}

test('a new field is stored, compared and returned after its steps, old plants stay the same, and the way back loses none', {
  timeout: 120_000,
}, async () => {
  const { main, createPlantStoreClient } = await buildNewer()
  const folder = temporaryFolder()
  const old = await startServerProcess({ folder })
  const moss = { id: 1, name: 'Moss' }
  await old.client.createPlant(moss)
  await old.end('SIGKILL')
  const { token } = old
  const fern = { id: 2n ** 63n - 1n, name: 'Fern', tag: 'indoor', height: 3 }
  // Twice, so that the second reads what the first has written.
  for (const _start of [1, 2]) {
    const server = await startServerProcess({ folder, main, token })
    const client = createPlantStoreClient({ baseUrl: server.url, token })
    expect(await client.createPlant(moss)).toEqual({ name: 'Moss' })
    expect(await client.createPlant(fern)).toEqual({ name: 'Fern', tag: 'indoor', height: 3 })
    for (const other of [
      { ...fern, height: 4 },
      { ...fern, height: undefined },
    ]) {
      await expect(client.createPlant(other)).rejects.toMatchObject({ apiName: 'id_taken' })
    }
    await server.end('SIGKILL')
  }

  expect(await runToEnd({ folder })).toMatchObject(
    ends(69, 'start the newer program that wrote it'),
  )
  expect(await runShell(folder, linesBack(main, 1))).toMatchObject({ code: 0 })
  const again = await startServerProcess({ folder, token })
  const exported = readFileSync(join(folder, 'newer.jsonl'), 'utf8').trim().split('\n')
  expect(exported).toHaveLength(2)
  for (const body of exported) expect((await post(again, { body })).status).toBe(200)
  await again.end()
  expect(readPlants(join(folder, 'data/plants.db')).map(({ id }) => id)).toEqual([1n, fern.id])
})
