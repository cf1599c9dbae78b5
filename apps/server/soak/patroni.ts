import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createHistory } from '../test/postgres/history.ts'
import { query } from '../test/postgres/postgres-server.ts'
import { readRows } from '../test/postgres/served-database.ts'
import { startStorm } from '../test/postgres/storm.ts'
import { judge, report } from './judge.ts'
import { startPatroni } from './patroni-cluster.ts'
import { prepare, serve } from './served.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
  },
})

report(`Patroni, ${values.rounds} rounds of each, seed ${values.seed}`)
const cluster = await startPatroni()
report(`settings: ${JSON.stringify(cluster.settings)}`)
try {
  await query(await cluster.primaryUrlOf('postgres'), 'CREATE DATABASE plants')
  const databaseUrl = cluster.urlOf('plants')
  const token = await prepare(databaseUrl)
  const servers = await Promise.all([serve(databaseUrl, token), serve(databaseUrl, token)])
  const history = createHistory()
  const clients = servers.map(({ client }) => client)
  const seed = Number(values.seed)
  const storm = startStorm({ history, clients: () => clients, callers: 8, seed })

  /** The longest time without a 200 from now until creates go on. */
  async function measure(what: string, trouble: () => Promise<void>): Promise<void> {
    let longest = 0
    let last = performance.now()
    let isOver = false
    const watch = async () => {
      while (!isOver) {
        await storm.acknowledges(1)
        longest = Math.max(longest, performance.now() - last)
        last = performance.now()
      }
    }
    const watched = watch()
    await trouble()
    await sleep(3_000)
    await storm.acknowledges(200)
    isOver = true
    await watched
    report(`${what}: ${(longest / 1_000).toFixed(1)} s without a 200`)
    await cluster.repair()
    await sleep(2_000)
  }

  for (let round = 0; round < Number(values.rounds); round++) {
    await measure('switchover', cluster.switchOver)
    await measure('crash of the primary', cluster.crash)
    await measure('loss of its machine', cluster.loseMachine)
  }
  await storm.stop()
  const verdict = history.judge(await readRows(await cluster.primaryUrlOf('plants')))
  const { acknowledged, taken, notStored, unknown, ...broken } = verdict
  report(`${acknowledged} answered 200, ${notStored} "nothing was stored", ${unknown} unknown`)
  for (const [what, ids] of Object.entries(broken)) judge(what, ids.length, 0)
  for (const server of servers) await server.kill('SIGTERM')
} finally {
  await cluster.stop()
}
