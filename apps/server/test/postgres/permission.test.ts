import { expect, test } from 'vitest'
import { prepareDatabase, readRows, serve } from './served-database.ts'
import { usePostgres } from './use-postgres.ts'

const postgres = usePostgres()

test("a server over PostgreSQL needs no file but its own program under Node's permission model", async () => {
  const database = await prepareDatabase(await postgres.createDatabase())
  const root = new URL('../../../../', import.meta.url).pathname
  const net = process.allowedNodeEnvironmentFlags.has('--allow-net')
    ? ['--allow-net', '--disable-warning=ExperimentalWarning']
    : []
  const nodeFlags = ['--permission', `--allow-fs-read=${root}`, ...net]
  const server = await serve(database, { nodeFlags })
  await server.client.createPlant({ id: 1, name: 'Fern' })
  server.kill('SIGTERM')
  expect(await server.ended).toMatchObject({ code: 0, err: '' })
  expect(await readRows(database.databaseUrl)).toHaveLength(1)
})
