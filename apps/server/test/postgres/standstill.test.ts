import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createHistory } from './history.ts'
import { clientOf, prepareDatabase, readRows, serve, waitForReadiness } from './served-database.ts'
import { LONGEST_ANSWER_MS } from './served-storm.ts'
import { openSession, stopProcess } from './sessions.ts'
import { usePostgres } from './use-postgres.ts'

const REQUESTS = 40

const postgres = usePostgres()

/** Stops every process of the server, as a machine that hangs; gives what lets them go on. */
async function stopPostgres(databaseUrl: string): Promise<() => void> {
  const observer = await openSession(databaseUrl)
  const { rows } = await observer.query('SELECT pid FROM pg_stat_activity')
  const stopped = [postgres.pid(), ...rows.map(({ pid }) => Number(pid))].map(stopProcess)
  return () => {
    for (const goOn of stopped) goOn()
  }
}

test('a PostgreSQL that stands still holds no caller for 10 s, nor a server that is asked to end', {
  timeout: 120_000,
}, async () => {
  const database = await prepareDatabase(await postgres.createDatabase())
  const [staying, ending] = await Promise.all([serve(database), serve(database)])
  const history = createHistory()
  const clients = [staying, ending].map(({ url }) => clientOf(url, database.token))
  const send = (id: number) =>
    clients.map((client, server) =>
      history.send(client, { id: BigInt(2 * id + server), name: 'Fern' }),
    )
  await Promise.all(send(0))
  const goOn = await stopPostgres(database.databaseUrl)
  const reply: Promise<unknown>[] = []
  // One after the other, so that some wait behind commits that hang already.
  for (let id = 1; id <= REQUESTS; id++) {
    reply.push(...send(id))
    await sleep(50)
  }
  const asked = performance.now()
  ending.kill('SIGTERM')
  expect((await ending.ended).code).toBe(0)
  expect(performance.now() - asked).toBeLessThan(10_000)
  await Promise.all(reply)
  expect(history.slowestMs).toBeLessThan(LONGEST_ANSWER_MS)

  goOn()
  await waitForReadiness(staying, true)
  const verdict = history.judge(await readRows(database.databaseUrl))
  expect(verdict).toMatchObject({ lost: [], altered: [], doubled: [], lies: [] })
})
