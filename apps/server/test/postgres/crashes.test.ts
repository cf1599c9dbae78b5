import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { clientWithoutRetries } from '../../../../test/server-process.ts'
import { startTcpProxy } from '../../../../test/tcp-proxy.ts'
import { History } from './history.ts'
import {
  prepareDatabase,
  readRows,
  type Served,
  serve,
  serveNewDatabase,
  waitForReadiness,
} from './served-database.ts'
import { startStorm } from './storm.ts'
import {
  END_STORE_SESSIONS,
  openSession,
  STORE_SESSIONS,
  stopProcess,
  usePostgres,
  waitForRow,
} from './use-postgres.ts'

const postgres = usePostgres()

/** Longer than the store lets one statement take, or wait for a lock; no event reports the end of it. */
const standstill = () => sleep(5_000)

type Storm = ReturnType<typeof startStorm>

test.each<[what: string, worst: (storm: Storm, observer: pg.Client, server: Served) => unknown]>([
  [
    'ten kills of PostgreSQL',
    async (storm, _observer, server) => {
      for (let kill = 0; kill < 10; kill++) {
        await storm.acknowledges(200)
        postgres.kill()
        // Every other time it is back before the server has noticed much.
        if (kill % 2 === 0) await waitForReadiness(server, false)
        await postgres.start()
        await waitForReadiness(server, true)
      }
    },
  ],
  [
    'twenty terminations of its sessions',
    async (storm, observer) => {
      for (let termination = 0; termination < 20; termination++) {
        await storm.acknowledges(50)
        await observer.query(END_STORE_SESSIONS)
      }
    },
  ],
  [
    'a session that stands still in a commit',
    async (_storm, observer) => {
      const committing = `${STORE_SESSIONS} AND state = 'active' AND query LIKE 'INSERT%'`
      const goOn = stopProcess((await waitForRow(observer, committing)).pid)
      await standstill()
      goOn()
    },
  ],
  [
    'a table that is locked',
    async (_storm, observer) => {
      await observer.query('BEGIN; LOCK TABLE plants IN ACCESS EXCLUSIVE MODE')
      await standstill()
      await observer.query('COMMIT')
    },
  ],
])(
  'under load %s: no plant is lost, doubled or altered, no response wrong or later than 10 s',
  {
    timeout: 180_000,
  },
  async (_what, worst) => {
    const { database, server } = await serveNewDatabase(postgres)
    const observer = await openSession(database.databaseUrl)
    const storm = startStorm(server)
    await storm.acknowledges(50)
    await worst(storm, observer, server)
    await storm.endAndJudge(database.databaseUrl)
  },
)

test.each([
  ['ends with SIGTERM', 'SIGTERM'],
  ['is killed', 'SIGKILL'],
] as const)(
  'a server that %s under load, once the next one has its address, loses and misreports nothing',
  async (_how, signal) => {
    const database = await prepareDatabase(await postgres.createDatabase())
    let server = await serve(database)
    const address = await startTcpProxy(server.port)
    onTestFinished(address.close)
    const storm = startStorm({ client: clientWithoutRetries({ ...database, url: address.url }) })
    for (let replacement = 0; replacement < 4; replacement++) {
      const next = await serve(database)
      address.lead(next.port)
      await storm.acknowledges(200)
      expect(await server.end(signal)).toMatchObject(
        signal === 'SIGTERM' ? { code: 0 } : { signal },
      )
      await storm.acknowledges(200)
      server = next
    }
    await storm.endAndJudge(database.databaseUrl)
  },
)

test('the judge of all this finds what was lost, altered, doubled and misreported', async () => {
  const environment = { PLANT_STORE_BODY_LIMIT_BYTES: '80' }
  const { database, server } = await serveNewDatabase(postgres, { environment })
  const history = new History()
  const send = (id: bigint, name = 'Fern') => history.send(server.client, { id, name })
  for (const id of [1n, 2n, 3n]) expect(await send(id)).toBe('stored')
  expect(await send(3n, 'Moss')).toBe('taken')
  const tooLong = 'F'.repeat(80)
  expect(await send(4n, tooLong)).toBe('not_stored')
  await postgres.query(
    database.databaseUrl,
    `DELETE FROM plants WHERE id = 1; UPDATE plants SET tag = 'indoor' WHERE id = 2;
      INSERT INTO plants (id, name) VALUES (4, '${tooLong}'), (5, 'Moss')`,
  )
  const rows = await readRows(database.databaseUrl)
  const faults = { lost: [1n], altered: [2n, 5n], doubled: [], lies: [4n] }
  expect(history.judge(rows)).toEqual(faults)
  const twice = [...rows, { id: 3n, name: 'Fern', tag: null }]
  expect(history.judge(twice)).toMatchObject({ doubled: [3n] })
})
