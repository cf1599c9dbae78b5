import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { FailureLog } from '../../src/http/request-log.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { makeStore } from '../commands/plants.ts'
import { runOn } from '../commands/program.ts'
import { clientOf, prepareDatabase, serve } from '../postgres/served-database.ts'
import { usePostgres } from '../postgres/use-postgres.ts'
import {
  logLinesIn,
  post,
  type ServerProcess,
  startServerProcess,
} from '../process/server-process.ts'
import { failSystemCall, needsStrace } from '../process/system-calls.ts'
import { temporaryFolder } from '../temporary-folder.ts'

type Line = Record<string, unknown>

function linesOf(text: string, about: Partial<Line>): Line[] {
  // Its last line may not be whole yet; other words are for people.
  const whole = text.split('\n').slice(0, -1)
  const lines = logLinesIn(whole.filter((line) => line.startsWith('{')).join('\n'))
  const wanted = Object.entries(about)
  return lines.filter((line) => wanted.every(([name, value]) => line[name] === value))
}

/** Sends creates at once, and gives how often each status was the reply; 0 stands for none. */
async function createAtOnce(
  server: ServerProcess,
  count: number,
  firstId = 1_000,
): Promise<Map<number, number>> {
  const statuses = new Map<number, number>()
  const ids = Array.from({ length: count }, (_, index) => firstId + index)
  await Promise.all(
    ids.map(async (id) => {
      const reply = await post(server, { body: JSON.stringify({ id, name: 'Fern' }) }).catch(
        () => {},
      )
      await reply?.text()
      const status = reply?.status ?? 0
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }),
  )
  return statuses
}

/** Resolves once the log, that nobody but the server writes, has such a line. */
async function untilLine(server: ServerProcess, about: Partial<Line>): Promise<Line> {
  for (;;) {
    const [line] = linesOf(server.output(), about)
    if (line !== undefined) return line
    await sleep(20)
  }
}

/** How many requests the lines stand for. */
function countOf(lines: readonly Line[]): number {
  return lines.reduce((sum, { leftOut = 0 }) => sum + 1 + Number(leftOut), 0)
}

describe('over SQLite', () => {
  test('a full disk is the cause of each 503, in one line a second', needsStrace, async () => {
    const server = await startServerProcess()
    await server.client.createPlant({ id: 1, name: 'before' })
    const makeRoom = await failSystemCall(server.pid, 'pwrite64', 'ENOSPC')
    expect(await createAtOnce(server, 200)).toEqual(new Map([[503, 200]]))
    const broken = await untilLine(server, { msg: 'not ready' })
    expect(broken).toMatchObject({
      level: 'warn',
      reason: 'the store is not ready: the disk is full',
      err: { cause: { code: 'ERR_SQLITE_ERROR', errcode: 13 } },
    })
    const metrics = await (await fetch(`${server.operationsUrl}/metrics`)).text()
    expect(metrics).toMatch(/^plant_store_commit_failures_total [1-9]/m)
    await makeRoom()
    // Nobody asks /readyz.
    expect(await untilLine(server, { msg: 'ready' })).toMatchObject({
      level: 'info',
      notReadyMs: expect.any(Number),
    })
    const { err } = await server.end()
    const refused = linesOf(err, { status: 503 })
    expect(countOf(refused)).toBe(200)
    expect(refused.length).toBeLessThan(20)
    for (const line of refused) {
      expect(line).toMatchObject({
        level: 'warn',
        error: 'unavailable',
        requestId: expect.any(String),
        tokenName: 'first-run',
        err: {
          type: 'StoreUnavailableError',
          message: 'the disk is full',
          cause: { message: expect.stringMatching(/full/), errcode: 13 },
        },
      })
    }
  })

  test('a failed sync is the cause of each 500, though the server ends', needsStrace, async () => {
    const server = await startServerProcess()
    // These open the connections, so that the others arrive together.
    await createAtOnce(server, 50)
    await failSystemCall(server.pid, 'fsync,fdatasync', 'EIO')
    const statuses = await createAtOnce(server, 50, 2_000)
    // As many as were in the commit.
    expect(statuses.get(500)).toBeGreaterThanOrEqual(1)
    const { err, code } = await server.ended
    expect(code).toBe(74)
    const unknown = linesOf(err, { error: 'outcome_unknown' })
    expect(countOf(unknown)).toBeGreaterThanOrEqual(statuses.get(500) ?? 0)
    expect(unknown[0]).toMatchObject({
      level: 'error',
      err: { type: 'OutcomeUnknownError', cause: { errcode: expect.any(Number) } },
    })
    // The end says why.
    expect(linesOf(err, { msg: 'ready' })).toEqual([])
  })

  test('a store that another process holds is refused by doctor as by a server', async () => {
    const path = join(temporaryFolder(), 'plants.db')
    await makeStore(path, [])
    const holder = new DatabaseSync(path)
    onTestFinished(() => holder.close())
    holder.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; DELETE FROM plants')
    for (const command of ['doctor', 'serve']) {
      const err = expect.stringContaining('busy with another process')
      expect(await runOn(path, command)).toMatchObject({ code: 69, out: '', err })
    }
  })

  test('an end by a signal is not logged as not ready', async () => {
    const environment = { PLANT_STORE_SHUTDOWN_DELAY_MS: '4000' }
    const server = await startServerProcess({ environment })
    server.kill('SIGTERM')
    await server.untilLogged('draining')
    expect((await fetch(`${server.operationsUrl}/readyz`)).status).toBe(503)
    const { err, code } = await server.ended
    expect(code).toBe(0)
    expect(linesOf(err, { msg: 'not ready' })).toEqual([])
    expect(linesOf(err, { status: 503 })).toMatchObject([{ level: 'info' }])
  })
})

describe('over PostgreSQL', () => {
  const postgres = usePostgres()

  async function serveLogged() {
    const database = await prepareDatabase(await postgres.createDatabase())
    const environment = { PLANT_STORE_LOG_LEVEL: 'info' }
    const server = await serve(database, { environment })
    const create = () =>
      clientOf(server.url, database.token).rest.createPlant({ body: { id: 1, name: 'Fern' } })
    expect(await create()).toMatchObject({ status: 200 })
    return { database, server, create }
  }

  test('a database that was stopped is the cause of every 503 of a flood', async () => {
    const { server, create } = await serveLogged()
    onTestFinished(async () => {
      await postgres.query(postgres.urlOf('postgres'), 'SELECT 1').catch(() => postgres.start())
    }, 30_000)
    postgres.kill()
    while ((await create()).status !== 503);
    const statuses = await createAtOnce(server, 200)
    expect(await untilLine(server, { msg: 'not ready' })).toMatchObject({
      reason: expect.stringContaining('ECONNREFUSED'),
      fix: expect.stringMatching(/^start the database/),
    })
    await postgres.start()
    await untilLine(server, { msg: 'ready' })
    expect(await create()).toMatchObject({ status: 200 })
    const { err } = await server.end()
    const refused = linesOf(err, { status: 503 })
    expect(countOf(refused)).toBeGreaterThanOrEqual(statuses.get(503) ?? 1)
    for (const line of refused) {
      expect(line).toMatchObject({
        level: 'warn',
        err: { detail: expect.any(String), cause: expect.anything() },
      })
    }
  })
})

describe('a flood', () => {
  const fail = (failures: FailureLog, text: string) =>
    failures.write({
      level: 'warn',
      line: { error: 'unavailable', err: new Error(text) },
      message: '',
    })

  function open(level: string) {
    const texts: string[] = []
    const failures = new FailureLog(createLog(level, { write: (line) => void texts.push(line) }))
    return { failures, lines: () => logLinesIn(texts.join('')) }
  }

  test('has a line for each reason, whatever the numbers in it, and counts the others', () => {
    const { failures, lines } = open('info')
    for (let id = 0; id < 100; id++) fail(failures, `plant ${id} is gone`)
    fail(failures, 'another reason')
    expect(lines()).toHaveLength(2)
    failures.flush()
    const [, , last] = lines()
    expect(last).toMatchObject({ leftOut: 98, err: { message: 'plant 99 is gone' } })
    expect(lines()).toHaveLength(3)
  })

  test('of ever new reasons has a bound', () => {
    const { failures, lines } = open('info')
    const words = Array.from({ length: 1_000 }, (_, n) =>
      n.toString(26).replaceAll(/\d/g, (d) => 'qrstuvwxyz'[+d] ?? ''),
    )
    for (const word of words) fail(failures, `reason-${word}`)
    failures.flush()
    expect(lines().length).toBeLessThan(70)
    expect(countOf(lines())).toBe(1_000)
  })

  test('has a line for each failure at debug', () => {
    const { failures, lines } = open('debug')
    for (let id = 0; id < 100; id++) fail(failures, 'gone')
    expect(lines()).toHaveLength(100)
  })
})
