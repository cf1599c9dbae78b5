import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startServerProcess } from '../process/server-process.ts'
import { importClient } from './built-pair.ts'
import { CLIENT, CONTRACT, copyWorkspace, type Edit, SERVER } from './workspace-copy.ts'

/** An optional `height`, by the steps that CONTRIBUTING.md lists. */
const steps: readonly Edit[] = [
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
    '  tag: { ...text, isRequired: false },\n',
    `  tag: { ...text, isRequired: false },
  height: { postgres: 'integer', isText: false, isRequired: false, fromSql: Number },
`,
  ],
  [
    `${SERVER}/src/sqlite/database/migrations.ts`,
    ') STRICT`,\n  },\n]',
    `) STRICT\`,
  },
  { version: 3, name: 'height', sql: 'ALTER TABLE plants ADD COLUMN height INTEGER' },
]`,
  ],
  [
    `${SERVER}/src/postgres/migrations.ts`,
    'granted bigint NOT NULL\n    )`,\n  },\n]',
    `granted bigint NOT NULL
    )\`,
  },
  {
    version: 4,
    name: 'height',
    sql: ({ plants }) => \`ALTER TABLE \${plants} ADD COLUMN height integer\`,
  },
]`,
  ],
]

const fern = { id: 2n ** 63n - 1n, name: 'Fern', tag: 'indoor', height: 3 }
const moss = { id: 1, name: 'Moss' }

test('the steps for a new field are those that CONTRIBUTING.md lists', () => {
  const text = readFileSync(new URL('../../../../CONTRIBUTING.md', import.meta.url), 'utf8')
  const section = /\*\*A field of a plant\.\*\*.*?(?=\n\*\*)/s.exec(text)?.[0]
  const listed = section?.matchAll(/^\d\. .*?`([^`]+\.ts)`/gm) ?? []
  expect(Array.from(listed, ([, path]) => path).slice(0, steps.length)).toEqual(
    steps.map(([path]) => path),
  )
})

test('after these steps a field is stored, compared and returned, and old plants stay the same', {
  timeout: 120_000,
}, async () => {
  const copy = copyWorkspace()
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-field-'))
  onTestFinished(() => {
    copy[Symbol.dispose]()
    rmSync(folder, { recursive: true })
  })
  copy.edit(steps)
  for (const built of [CONTRACT, CLIENT, SERVER]) expect(await copy.build(built)).toEqual([])
  const { createPlantStoreClient } = await importClient(copy)
  const main = copy.pathOf(`${SERVER}/dist/main.js`)

  const old = await startServerProcess({ folder })
  const { token } = old
  await old.client.createPlant(moss)
  old.kill('SIGKILL')
  await old.ended

  // Twice, so that the second reads what the first has written.
  for (const _start of [1, 2]) {
    const { url: baseUrl, kill, ended } = await startServerProcess({ folder, main, token })
    const client = createPlantStoreClient({ baseUrl, token })
    expect(await client.createPlant(moss)).toEqual({ name: 'Moss' })
    const { id, ...plant } = fern
    expect(await client.createPlant(fern)).toEqual(plant)
    const taken = { code: 'conflict', apiName: 'id_taken' }
    const taller = { ...fern, height: 4 }
    await expect(client.createPlant(taller)).rejects.toMatchObject(taken)
    await expect(client.createPlant({ ...moss, ...taller, id: moss.id })).rejects.toMatchObject(
      taken,
    )
    await expect(client.createPlant({ id, name: 'Fern', tag: 'indoor' })).rejects.toMatchObject(
      taken,
    )
    kill('SIGKILL')
    await ended
  }
})
