import { parseArgs } from 'node:util'
import type { StoredRow } from '../test/postgres/history.ts'
import { query, startPostgres } from '../test/postgres/postgres-server.ts'
import { judge, report } from './judge.ts'
import { rollServers } from './rolling-restarts.ts'
import { prepare } from './served.ts'

const { values } = parseArgs({
  options: {
    restarts: { type: 'string', default: '100' },
    callers: { type: 'string', default: '16' },
  },
})

async function roll(databaseUrl: string): Promise<void> {
  const { history, retries, exitCodes } = await rollServers({
    databaseUrl,
    token: await prepare(databaseUrl),
    restarts: Number(values.restarts),
    callers: Number(values.callers),
    seed: Date.now(),
    onRestart: (count) => count % 10 === 0 && report(`${count} restarts`),
  })
  const rows = await query(databaseUrl, 'SELECT id::text AS id, name, tag FROM plants')
  const verdict = history.judge(rows as StoredRow[])
  const { acknowledged, taken, notStored, unknown, ...broken } = verdict
  report(`${acknowledged} answered 200, ${taken} refused for a taken id, ${retries} repeated`)
  judge('failed', notStored + unknown, 0)
  judge('ended badly', exitCodes.filter((code) => code !== 0).length, 0)
  for (const [what, ids] of Object.entries(broken)) judge(what, ids.length, 0)
}

const begin = performance.now()
const postgres = await startPostgres()
try {
  await roll(await postgres.createDatabase())
} finally {
  await postgres.stop()
  report(`${Math.round((performance.now() - begin) / 1000)} s`)
}
