import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { createPlantStoreClient, createPlants, type NewPlantInput } from '@plant-store/client'
import { expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../../../test/postgres-server.ts'
import { startRestartableServer as startServer } from '../../../test/restartable-server.ts'
import { MAIN as SERVER } from '../../../test/start-program.ts'
import { spreadPlants } from '../../server/test/commands/plants.ts'
import { openImporter } from './import/importer.ts'

const plants = spreadPlants(3_100)

/** What `export` writes, in a file. */
function exportTo(path: string, databaseUrl: string): string {
  const file = openSync(path, 'w')
  const args = [SERVER, 'export', '--database-url', databaseUrl]
  execFileSync(process.execPath, args, { stdio: ['ignore', file, 'ignore'] })
  closeSync(file)
  return readFileSync(path, 'utf8')
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
  const store = async (some: readonly NewPlantInput[]) => {
    const results = createPlants(client, some, { concurrency: 64 })
    for await (const { ok } of results) expect(ok).toBe(true)
  }
  const { pathOf, run } = await openImporter('', [], next)
  const move = async (said: string) => {
    const exported = exportTo(pathOf('plants.jsonl'), old.databaseUrl)
    const stdout = expect.stringContaining(said)
    expect(await run('plants.jsonl')).toMatchObject({ code: 0, stdout })
    return exported
  }

  await store(plants.slice(0, 3_000))
  await move(' stored, 0 rejected')
  // Callers go on at the old store until the switch.
  await store(plants.slice(3_000))
  await old.stop()
  const exported = await move(' there already)')
  expect(exportTo(pathOf('moved.jsonl'), databaseUrl)).toBe(exported)
  expect(exported.split('\n')).toHaveLength(plants.length + 1)
})
