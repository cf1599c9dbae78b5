import { test } from 'vitest'
import { serveNewDatabase, waitForReadiness } from './served-database.ts'
import { startServedStorm } from './served-storm.ts'
import { usePostgres } from './use-postgres.ts'

const KILLS = 10

const postgres = usePostgres()

test('ten kills of PostgreSQL under load lose, double, alter and misreport nothing', {
  timeout: 180_000,
}, async () => {
  const { database, server } = await serveNewDatabase(postgres)
  const storm = startServedStorm(server, database)
  for (let kill = 0; kill < KILLS; kill++) {
    await storm.acknowledges(200)
    postgres.kill()
    // Every other time it is back before the server has noticed much.
    if (kill % 2 === 0) await waitForReadiness(server, false)
    await postgres.start()
    await waitForReadiness(server, true)
  }
  await storm.endAndJudge(database.databaseUrl)
})
