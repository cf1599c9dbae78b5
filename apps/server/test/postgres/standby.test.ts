import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openPostgresStore } from '../../src/postgres/store.ts'
import { type Balancer, startBalancer } from '../process/balancer.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { prepareDatabase, readRows, serve } from './served-database.ts'
import { startServedStorm } from './served-storm.ts'
import { openSession, STORE_SESSIONS, waitForRow } from './sessions.ts'
import { startSynchronousStandby } from './standby.ts'

let primary: PostgresServer
let standby: PostgresServer
let address: Balancer

beforeAll(async () => {
  primary = await startPostgres()
  standby = await startSynchronousStandby(primary)
  address = await startBalancer(primary.port)
}, 60_000)
afterAll(async () => {
  await address?.close()
  await standby?.stop()
  await primary?.stop()
})

const WAITING_FOR_STANDBY = `${STORE_SESSIONS} AND wait_event = 'SyncRep'`

/** A user that may do no more than a create needs, so that it can lock no row. */
async function limit(databaseUrl: string): Promise<string> {
  const role = `limited_${new URL(databaseUrl).pathname.slice(1)}`
  await primary.query(
    databaseUrl,
    `CREATE ROLE ${role} LOGIN PASSWORD 'limited';
      GRANT SELECT ON migrations, plants, tokens TO ${role}; GRANT INSERT ON plants TO ${role}`,
  )
  return databaseUrl.replace(/\/\/.*@/, `//${role}:limited@`)
}

test.each([
  ['pg_terminate_backend', 'notice'],
  ['pg_cancel_backend', 'notice'],
  ['pg_cancel_backend', 'error'],
])(
  'a commit that %s cuts off before the standby has it gets no outcome until it has, with messages from %s on',
  {
    timeout: 120_000,
  },
  async (cutOff, messages) => {
    const { databaseUrl } = await prepareDatabase(await primary.createDatabase())
    const name = new URL(databaseUrl).pathname.slice(1)
    await primary.query(databaseUrl, `ALTER DATABASE ${name} SET client_min_messages = ${messages}`)
    const store = await openPostgresStore({
      databaseUrl: await limit(databaseUrl),
      allowDataLoss: false,
    })
    onTestFinished(() => store.close())
    const observer = await openSession(databaseUrl)
    await standby.stop({ keepFolder: true })
    const events: string[] = []
    const outcome = store.plants.create({ id: 9007199254740993n, name: 'Fern' }).then((reply) => {
      events.push('reply')
      return reply
    })
    const { pid, started } = await waitForRow(observer, WAITING_FOR_STANDBY)
    await observer.query(`SELECT ${cutOff}($1)`, [pid])
    const isRepeated = `${WAITING_FOR_STANDBY} AND (pid, query_start::text) <> (${pid}, '${started}')`
    await Promise.race([outcome, waitForRow(observer, isRepeated)])
    events.push('standby started')
    await standby.start()
    expect(await outcome).toBe('already_there')
    expect(events).toEqual(['standby started', 'reply'])
    const onStandby = databaseUrl.replace(`:${primary.port}`, `:${standby.port}`)
    const stored = [{ id: '9007199254740993', name: 'Fern', tag: null }]
    // It has the plant on its disk, and shows it once it has replayed it.
    await expect.poll(() => readRows(onStandby)).toEqual(stored)
  },
)

test('a standby that is promoted under load has every plant that was answered 200', {
  timeout: 120_000,
}, async () => {
  const database = await prepareDatabase(await primary.createDatabase())
  const through = (url: string) =>
    database.databaseUrl.replace(`:${primary.port}`, `:${new URL(url).port}`)
  const server = await serve({ ...database, databaseUrl: through(address.url) })
  const storm = startServedStorm(server, database)
  await storm.acknowledges(500)
  primary.kill()
  const onStandby = standby.urlOf('postgres')
  await standby.query(onStandby, 'SELECT pg_promote()')
  address.lead(standby.port)
  await storm.acknowledges(500)
  await storm.endAndJudge(through(onStandby))
})
