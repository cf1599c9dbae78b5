import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runToEnd } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { needsPgBouncer, type PoolMode, startPgBouncer } from './pgbouncer.ts'
import { clientOf, isReady, prepareDatabase, serve } from './served-database.ts'
import { startServedStorm } from './served-storm.ts'
import { openSession } from './sessions.ts'
import { usePostgres } from './use-postgres.ts'

const postgres = usePostgres()

/** Other programs that use the same pooler all the time, until the test ends. */
async function keepBusy(databaseUrl: string, programs: number): Promise<void> {
  let isOver = false
  onTestFinished(() => {
    isOver = true
  })
  for (let program = 0; program < programs; program++) {
    const session = await openSession(databaseUrl)
    const ask = async () => {
      while (!isOver) {
        await session.query('SELECT pg_sleep(0.002)')
        await sleep(1)
      }
    }
    ask().catch(() => {})
  }
}

function run(databaseUrl: string, ...args: string[]) {
  const environment = { PLANT_STORE_DATABASE_URL: databaseUrl }
  return runToEnd({ folder: temporaryFolder(), environment, args })
}

describe('PgBouncer', needsPgBouncer, () => {
  test('with pool_mode = session changes nothing under load', async () => {
    const pgbouncer = await startPgBouncer(postgres, 'session')
    const database = await prepareDatabase(await postgres.createDatabase())
    const through = { ...database, databaseUrl: pgbouncer.through(database.databaseUrl) }
    const server = await serve(through)
    const storm = startServedStorm(server, through)
    await storm.acknowledges(500)
    await storm.endAndJudge(database.databaseUrl)
    expect(await run(through.databaseUrl, 'token', 'list')).toMatchObject({ code: 0 })
  })

  test.each<[PoolMode, number]>([
    ['transaction', 0],
    ['transaction', 4],
    ['statement', 0],
  ])(
    'with pool_mode = %s is refused by each command, with what to do, beside %d other programs',
    async (mode, programs) => {
      const pgbouncer = await startPgBouncer(postgres, mode)
      const { databaseUrl } = await prepareDatabase(await postgres.createDatabase())
      const through = pgbouncer.through(databaseUrl)
      await keepBusy(through, programs)
      const refusal = /a pooler before \S+ shares sessions .*pool_mode = session in PgBouncer/
      for (const command of [['serve'], ['migrate'], ['token', 'list'], ['export'], ['doctor']]) {
        const { code, out, err } = await run(through, ...command)
        expect({ command, code, out }).toEqual({ command, code: 69, out: '' })
        expect(err).toMatch(refusal)
      }
    },
  )

  test('that begins to share sessions later makes creates fail with 503, and nothing is stored', async () => {
    const pgbouncer = await startPgBouncer(postgres, 'session')
    const database = await prepareDatabase(await postgres.createDatabase())
    const through = { ...database, databaseUrl: pgbouncer.through(database.databaseUrl) }
    const [one, other] = await Promise.all([serve(through), serve(through)])
    await pgbouncer.changeTo('transaction')
    const statuses = new Set<number>()
    for (let id = 0; id < 40; id++) {
      for (const { url } of [one, other]) {
        const { status } = await clientOf(url, database.token).rest.createPlant({
          body: { id, name: 'Fern' },
        })
        statuses.add(status)
      }
    }
    expect([...statuses].filter((status) => ![200, 503].includes(status))).toEqual([])
    await pgbouncer.changeTo('session')
    await expect.poll(() => isReady(one)).toBe(true)
  })
})
