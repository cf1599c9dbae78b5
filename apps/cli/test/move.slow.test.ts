import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { createPlantStoreClient, createPlants, type NewPlantInput } from '@plant-store/client'
import { expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../../../test/postgres-server.ts'
import { startRestartableServer as startServer } from '../../../test/restartable-server.ts'
import { MAIN as SERVER } from '../../../test/start-program.ts'
import { openImporter } from './import/importer.ts'

const PLANTS = 3_000

/** What `export` writes, in a file. */
function exportTo(path: string, databaseUrl: string): string {
  const file = openSync(path, 'w')
  const args = [SERVER, 'export', '--database-url', databaseUrl]
  execFileSync(process.execPath, args, { stdio: ['ignore', file, 'ignore'] })
  closeSync(file)
  return readFileSync(path, 'utf8')
}

/** Plants of every kind, their ids all over int64. */
function* plants(from: number, to: number): Generator<NewPlantInput> {
  for (let index = from; index < to; index++) {
    const id = BigInt.asIntN(64, BigInt(index + 1) * 0x9e3779b97f4a7c15n)
    const plant = { id, name: `plant "${index}",\n🌿` }
    yield index % 3 === 0 ? plant : { ...plant, tag: index % 3 === 1 ? '' : `tag ${index}` }
  }
}

test('plants move from SQLite to PostgreSQL by export and import, before and after the switch', async () => {
  const postgres = await startPostgres()
  onTestFinished(() => postgres.stop())
  const databaseUrl = await postgres.createDatabase()
  execFileSync(process.execPath, [SERVER, 'migrate', '--database-url', databaseUrl], {
    stdio: 'ignore',
  })
  const [old, next] = [await startServer(), await startServer([`--database-url=${databaseUrl}`])]
  const client = createPlantStoreClient({ baseUrl: old.url, token: old.token })
  const store = async (from: number, to: number) => {
    const results = createPlants(client, plants(from, to), { concurrency: 64 })
    for await (const { ok } of results) expect(ok).toBe(true)
  }
  const { pathOf, run } = await openImporter('', [], next)
  const move = async (said: string) => {
    const exported = exportTo(pathOf('plants.jsonl'), old.databaseUrl)
    const stdout = expect.stringContaining(said)
    expect(await run('plants.jsonl')).toMatchObject({ code: 0, stdout })
    return exported
  }

  await store(0, PLANTS)
  await move(' stored, 0 rejected')
  // Callers go on at the old store until the switch.
  await store(PLANTS, PLANTS + 100)
  await old.stop()
  const exported = await move(' there already)')
  expect(exportTo(pathOf('moved.jsonl'), databaseUrl)).toBe(exported)
  expect(exported.split('\n')).toHaveLength(PLANTS + 101)
})
