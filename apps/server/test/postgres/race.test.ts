import type { NewPlantInput } from '@plant-store/client'
import { expect, test } from 'vitest'
import type { TestClient } from '../clients.ts'
import { createHistory, type History } from './history.ts'
import { clientOf, prepareDatabase, readRows, serve } from './served-database.ts'
import { usePostgres } from './use-postgres.ts'

const IDS = 400

const postgres = usePostgres()

/** Sends a plant again where a machine that is busy kept it waiting for too long. */
async function sendUntilDecided(
  history: History,
  client: TestClient,
  plant: NewPlantInput & { id: bigint },
) {
  for (;;) {
    const reply = await history.send(client, plant)
    if (reply === 'stored' || reply === 'taken') return reply
  }
}

test('of two servers that race for 400 ids, exactly one content wins each id', async () => {
  const database = await prepareDatabase(await postgres.createDatabase())
  const servers = await Promise.all([serve(database), serve(database)])
  const clients = servers.map(({ url }) => clientOf(url, database.token))
  const history = createHistory()
  const reply = await Promise.all(
    Array.from({ length: IDS }, (_, index) =>
      Promise.all(
        clients.map((client, server) =>
          sendUntilDecided(history, client, {
            id: BigInt(index) - 200n,
            name: `of server ${server}`,
          }),
        ),
      ),
    ),
  )
  for (const pair of reply) expect(pair.toSorted()).toEqual(['stored', 'taken'])
  const rows = await readRows(database.databaseUrl)
  expect(rows).toHaveLength(IDS)
  expect(history.judge(rows)).toMatchObject({
    ...{ acknowledged: IDS, taken: IDS },
    ...{ lost: [], altered: [], doubled: [], lies: [] },
  })
})

test('the judge of histories finds what was lost, altered and misreported', async () => {
  const database = await prepareDatabase(await postgres.createDatabase())
  const server = await serve(database, { environment: { PLANT_STORE_BODY_LIMIT_BYTES: '80' } })
  const client = clientOf(server.url, database.token)
  const history = createHistory()
  for (const id of [1n, 2n, 3n]) {
    expect(await history.send(client, { id, name: 'Fern' })).toBe('stored')
  }
  const tooLong = { id: 4n, name: 'F'.repeat(80) }
  expect(await history.send(client, tooLong)).toBe('not_stored')
  const change = (text: string) => postgres.query(database.databaseUrl, text)
  await change('DELETE FROM plants WHERE id = 1')
  await change("UPDATE plants SET tag = 'indoor' WHERE id = 2")
  await change(`INSERT INTO plants (id, name) VALUES (4, '${tooLong.name}'), (5, 'Moss')`)
  const rows = await readRows(database.databaseUrl)
  expect(history.judge(rows)).toMatchObject({ lost: [1n], altered: [2n, 5n], lies: [4n] })
  const twice = [...rows, { id: '3', name: 'Fern', tag: null }]
  expect(history.judge(twice)).toMatchObject({ doubled: [3n] })
})
