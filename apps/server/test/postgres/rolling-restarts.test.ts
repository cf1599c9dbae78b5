import { expect, test } from 'vitest'
import { rollServers } from '../../soak/rolling-restarts.ts'
import { prepareDatabase, readRows } from './served-database.ts'
import { usePostgres } from './use-postgres.ts'

const postgres = usePostgres()

test('10 rolling restarts of two servers behind one address: 0 failed, 0 lost, 0 doubled', {
  timeout: 120_000,
}, async () => {
  const database = await prepareDatabase(await postgres.createDatabase())
  const seed = Date.now()
  const rolled = await rollServers({ ...database, restarts: 10, callers: 8, seed })
  expect(rolled.history.judge(await readRows(database.databaseUrl)), `seed ${seed}`).toMatchObject({
    ...{ notStored: 0, unknown: 0 },
    ...{ lost: [], altered: [], doubled: [], lies: [] },
  })
  expect(rolled.exitCodes).toEqual(Array(10).fill(0))
  // A server that cut idle connections at once would reset a request of nearly every caller. One that
  // waits resets those of callers that a busy machine keeps from sending their next in 100 ms.
  expect(rolled.retries).toBeLessThan(30)
})
