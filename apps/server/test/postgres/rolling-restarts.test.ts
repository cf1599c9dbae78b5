import { expect, test } from 'vitest'
import { judgeRolling, rollServers } from '../../soak/rolling-restarts.ts'
import { prepareDatabase, readRows } from './served-database.ts'
import { usePostgres } from './use-postgres.ts'

const postgres = usePostgres()

test('10 rolling restarts of two servers behind one address: 0 failed, 0 lost, 0 doubled', {
  timeout: 120_000,
}, async () => {
  const database = await prepareDatabase(await postgres.createDatabase())
  const report = await rollServers({ ...database, restarts: 10, callers: 8 })
  const rows = await readRows(database.databaseUrl)
  const nothing = { failed: [], lost: [], doubled: [], altered: [], endedBadly: [] }
  expect(judgeRolling(report, rows)).toEqual(nothing)
  expect(report.exitCodes).toHaveLength(10)
  expect(rows.length).toBe(report.sent.size)
  // A server that cut idle connections at once would reset a request of nearly every caller.
  expect(report.retries).toBeLessThan(20)
})
