import { parseArgs } from 'node:util'
import { type PostgresServer, query, startPostgres } from '../test/postgres/postgres-server.ts'
import { History, type StoredRow, type Verdict } from './history.ts'
import { report } from './rig.ts'
import { prepareDatabase, serve } from './served.ts'
import { createRandom, startStorm } from './storm.ts'

const CALLERS = 32

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
  },
})
const kills = Number(values.kills)
const seed = Number(values.seed)

/** Kills each of the two in turn, at moments that the seed chooses. */
async function soak(postgres: PostgresServer): Promise<Verdict> {
  const database = await prepareDatabase(await postgres.createDatabase())
  const history = new History()
  let served = await serve(database)
  const clients = () => (served.isRunning() ? [served.client] : [])
  const storm = startStorm({ history, clients, callers: CALLERS, seed })
  const random = createRandom(seed + 1)
  for (let kill = 1; kill <= kills; kill++) {
    await storm.acknowledges(50 + (random() % 400))
    postgres.kill()
    await postgres.start()
    if (!served.isRunning()) throw new Error(`the server ended by itself after kill ${kill}`)
    await storm.acknowledges(50 + (random() % 400))
    await served.kill('SIGKILL')
    served = await serve(database)
    if (kill % 10 === 0) report(`${kill} kills of each`)
  }
  await storm.acknowledges(200)
  await storm.stop()
  await served.kill('SIGTERM')
  report(`slowest reply: ${Math.round(history.slowestMs)} ms`)
  const rows = await query(database.databaseUrl, 'SELECT id::text AS id, name, tag FROM plants')
  report(`rows: ${rows.length}`)
  return history.judge(rows as StoredRow[])
}

report(`${kills} kills of PostgreSQL and ${kills} of the server under load, seed ${seed}`)
const begin = performance.now()
const postgres = await startPostgres()
try {
  const verdict = await soak(postgres)
  for (const [name, found] of Object.entries(verdict)) {
    report(`${name}: ${Array.isArray(found) ? `${found.length} ${found.join(' ')}` : found}`)
  }
  const { lost, altered, doubled, lies } = verdict
  process.exitCode = [lost, altered, doubled, lies].some((ids) => ids.length > 0) ? 1 : 0
} finally {
  await postgres.stop()
  report(`${Math.round((performance.now() - begin) / 1000)} s`)
}
