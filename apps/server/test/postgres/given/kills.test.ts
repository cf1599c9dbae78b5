import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { needs } from '../../../../../packages/client/runtimes/needs.ts'
import { createHistory } from '../history.ts'
import { clientOf, prepareDatabase, readRows, serve, waitForReadiness } from '../served-database.ts'
import { startStorm } from '../storm.ts'
import { usePostgres } from '../use-postgres.ts'

/** Kills a part of the database, and ends when that part is back; for sh. */
const killCommand = process.env.PLANT_STORE_TEST_POSTGRES_KILL

const KILLS = Number(process.env.PLANT_STORE_TEST_POSTGRES_KILLS ?? 40)

/** After a kill: PostgreSQL recovers, and what was in doubt between nodes is settled. */
const BACK_MS = 120_000

const postgres = usePostgres()

async function killOne(command: string): Promise<void> {
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`the command that kills ended with ${code}`)
}

test('kills of nodes under load from two servers lose, double, alter and misreport nothing', {
  ...needs('a command in PLANT_STORE_TEST_POSTGRES_KILL', killCommand !== undefined),
  timeout: BACK_MS * (KILLS + 2),
}, async () => {
  const database = await prepareDatabase(await postgres.createDatabase())
  const servers = await Promise.all([serve(database), serve(database)])
  const clients = servers.map(({ url }) => clientOf(url, database.token))
  const history = createHistory()
  const seed = Date.now()
  const storm = startStorm({ history, clients: () => clients, callers: 32, seed })
  for (let kill = 0; kill < KILLS; kill++) {
    await storm.acknowledges(500)
    await killOne(killCommand ?? '')
    for (const server of servers) await waitForReadiness(server, true)
  }
  await storm.acknowledges(200)
  await storm.stop()
  const judge = async () => history.judge(await readRows(database.databaseUrl))
  const nothing = { lost: [], altered: [], doubled: [], lies: [] }
  await expect.poll(judge, { timeout: BACK_MS, interval: 2_000 }).toMatchObject(nothing)
  const { acknowledged, taken, notStored, unknown } = await judge()
  console.log(`${KILLS} kills, seed ${seed}:`, { acknowledged, taken, notStored, unknown })
  console.log(`slowest reply: ${Math.round(history.slowestMs)} ms`, history.statuses)
})
