import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'
import { contentOf, execute, makeStore, query, spreadPlants, takeSchemaBack } from './plants.ts'
import { runOn } from './program.ts'
import { runShell } from './shell.ts'

/** A store as the program wrote it when its schema had no tokens. */
async function makeOldStore(plants: number): Promise<string> {
  const path = join(temporaryFolder(), 'plants.db')
  await makeStore(path, spreadPlants(plants))
  takeSchemaBack(path)
  return path
}

function copiesOf(path: string): string[] {
  return readdirSync(join(path, '..')).filter((name) => name.includes('schema'))
}

describe('migrate', () => {
  test('says when there is nothing to do', async () => {
    const path = join(temporaryFolder(), 'plants.db')
    await makeStore(path, [])
    const { code, err } = await runOn(path, 'migrate')
    expect(code).toBe(0)
    expect(err).toContain('has schema version 2, the newest that this program knows: nothing to do')
  })

  test('keeps a store with plants as it was in a file beside it', async () => {
    const path = await makeOldStore(300)
    const before = contentOf(path)
    const { code, err } = await runOn(path, 'migrate')
    expect(code).toBe(0)
    expect(err).toContain('migrated from schema version 1')
    expect(contentOf(path)).toEqual(before)
    expect(copiesOf(path)).toEqual(['plants.db.schema-1.300'])
    expect(contentOf(`${path}.schema-1.300`)).toEqual(before)
    const version = 'SELECT max(version) AS version FROM migrations'
    expect(query(`${path}.schema-1.300`, version)).toEqual({ version: 1 })
  })

  test('makes no second copy of the same plants, and never replaces a copy of others', async () => {
    const path = await makeOldStore(300)
    await runOn(path, 'migrate')
    takeSchemaBack(path)
    await runOn(path, 'migrate')
    expect(copiesOf(path)).toEqual(['plants.db.schema-1.300'])
    takeSchemaBack(path)
    execute(path, "INSERT INTO plants VALUES (1, 'later', NULL)")
    await runOn(path, 'migrate')
    expect(copiesOf(path)).toEqual(['plants.db.schema-1.300', 'plants.db.schema-1.301'])
    expect(contentOf(`${path}.schema-1.300`).count).toBe(300)
    expect(contentOf(`${path}.schema-1.301`).count).toBe(301)
  })

  test('copies nothing where there are no plants', async () => {
    const path = await makeOldStore(0)
    expect((await runOn(path, 'migrate')).err).toContain('migrated from schema version 1')
    expect(copiesOf(path)).toEqual([])
  })

  test('that cannot make the copy leaves the store as it was', async () => {
    const path = await makeOldStore(2_000)
    const folder = join(path, '..')
    // Room for the log of the schema change, but not for a second copy of the plants.
    const { code, err } = await runShell(
      folder,
      'ulimit -f 40; server migrate --database-url sqlite:plants.db',
    )
    expect(code).toBe(69)
    expect(err).toMatch(/needs a newer schema, but could not be copied to .*schema-1\.\d+ before: /)
    expect(copiesOf(path)).toEqual([])
    expect((await runOn(path, 'migrate')).err).toContain('migrated from schema version 1')
  })
})
