import { parseArgs } from 'node:util'
import { query, startPostgres } from '../test/postgres/postgres-server.ts'
import { report } from './judge.ts'
import { judgeRolling, rollServers } from './rolling-restarts.ts'
import { prepare } from './served.ts'

const { values } = parseArgs({
  options: {
    restarts: { type: 'string', default: '100' },
    callers: { type: 'string', default: '16' },
  },
})

async function roll(databaseUrl: string): Promise<boolean> {
  const rolled = await rollServers({
    databaseUrl,
    token: await prepare(databaseUrl),
    restarts: Number(values.restarts),
    callers: Number(values.callers),
    onRestart: (count) => count % 10 === 0 && report(`${count} restarts`),
  })
  const rows = await query(databaseUrl, 'SELECT id::text AS id, name FROM plants')
  report(
    `plants: ${rolled.sent.size} sent, ${rows.length} stored, ${rolled.retries} requests repeated`,
  )
  const verdict = Object.entries(judgeRolling(rolled, rows as { id: string; name: string }[]))
  for (const [what, found] of verdict)
    report(`${what}: ${found.length} ${found.slice(0, 5).join(' ')}`)
  return verdict.every(([, found]) => found.length === 0)
}

const begin = performance.now()
const postgres = await startPostgres()
try {
  process.exitCode = (await roll(await postgres.createDatabase())) ? 0 : 1
} finally {
  await postgres.stop()
  report(`${Math.round((performance.now() - begin) / 1000)} s`)
}
