import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { contentOf, execute, query, takeSchemaBack } from './plants.ts'
import { arrange as arrangePlace, ends } from './program.ts'

/** A store as the program wrote it when its schema had no tokens. */
async function arrange(plants: number) {
  const place = await arrangePlace(plants)
  takeSchemaBack(place.path)
  const copies = () => readdirSync(place.at('data')).filter((name) => name.includes('schema'))
  return { ...place, copies, copy: (count: number) => `${place.path}.schema-1.${count}` }
}

const MIGRATED = ends(0, 'migrated from schema version 1')

describe('migrate', () => {
  test('says when there is nothing to do', async () => {
    const says = 'has schema version 2, the newest that this program knows: nothing to do'
    expect(await (await arrangePlace(0)).run('migrate')).toEqual(ends(0, says))
  })

  test('keeps a store with plants as it was in a file beside it', async () => {
    const { path, run, copies, copy } = await arrange(300)
    const before = contentOf(path)
    expect(await run('migrate')).toEqual(MIGRATED)
    expect(contentOf(path)).toEqual(before)
    expect(copies()).toEqual(['plants.db.schema-1.300'])
    expect(contentOf(copy(300))).toEqual(before)
    const version = 'SELECT max(version) AS version FROM migrations'
    expect(query(copy(300), version)).toEqual({ version: 1 })
  })

  test('makes no second copy of the same plants, and never replaces a copy of others', async () => {
    const { path, run, copies, copy } = await arrange(300)
    await run('migrate')
    takeSchemaBack(path)
    await run('migrate')
    expect(copies()).toEqual(['plants.db.schema-1.300'])
    takeSchemaBack(path)
    execute(path, "INSERT INTO plants VALUES (1, 'later', NULL)")
    await run('migrate')
    expect(copies()).toEqual(['plants.db.schema-1.300', 'plants.db.schema-1.301'])
    expect([contentOf(copy(300)).count, contentOf(copy(301)).count]).toEqual([300, 301])
  })

  test('copies nothing where there are no plants', async () => {
    const { run, copies } = await arrange(0)
    expect(await run('migrate')).toEqual(MIGRATED)
    expect(copies()).toEqual([])
  })

  test('that cannot make the copy leaves the store as it was', async () => {
    const { run, shell, copies } = await arrange(2_000)
    // Room for the log of the schema change, but not for a second copy of the plants.
    const ended = await shell('ulimit -f 40; server migrate')
    const says = /needs a newer schema, but could not be copied to .*schema-1\.\d+ before: /
    expect(ended).toMatchObject(ends(69, says))
    expect(copies()).toEqual([])
    expect(await run('migrate')).toEqual(MIGRATED)
  })
})
