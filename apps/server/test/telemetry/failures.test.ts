import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  logLinesIn,
  type ServerProcess,
  startServerProcess,
  statusesOf,
} from '../../../../test/server-process.ts'
import { FailureLog } from '../../src/http/request-log.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { arrange, ends } from '../commands/program.ts'
import { prepareDatabase, serve } from '../postgres/served-database.ts'
import { usePostgres } from '../postgres/use-postgres.ts'
import { failSystemCall, needsStrace } from '../process/system-calls.ts'
import { read } from './scraped-server.ts'

type Line = Record<string, unknown>

/** The lines of a log that have such fields; its last line may not be whole yet. */
function linesOf(text: string, about: Line): Line[] {
  const whole = text.split('\n').slice(0, -1)
  // Other words are for people.
  const lines = logLinesIn(whole.filter((line) => line.startsWith('{')).join('\n'))
  const wanted = Object.entries(about)
  return lines.filter((line) => wanted.every(([name, value]) => line[name] === value))
}

/** Sends so many creates at once; 200 or the error of each. */
function createAtOnce(server: ServerProcess, count: number, firstId = 1_000) {
  const ids = Array.from({ length: count }, (_, index) => firstId + index)
  return statusesOf(server, ids)
}

/** The first line of its log with such a message, once it is there, is held against an expectation. */
const expectLine = (server: ServerProcess, msg: string) =>
  expect.poll(() => linesOf(server.output(), { msg })[0])

/** How many requests the lines stand for. */
function countOf(lines: readonly Line[]): number {
  return lines.reduce((sum, { leftOut = 0 }) => sum + 1 + Number(leftOut), 0)
}

describe('over SQLite', () => {
  test('a full disk is the cause of each 503, in one line a second', needsStrace, async () => {
    const server = await startServerProcess()
    await server.client.createPlant({ id: 1, name: 'before' })
    const makeRoom = await failSystemCall(server.pid, 'pwrite64', 'ENOSPC')
    expect(new Set(await createAtOnce(server, 200))).toEqual(new Set([50_300]))
    await expectLine(server, 'not ready').toMatchObject({
      level: 'warn',
      reason: 'the store is not ready: the disk is full',
      err: { cause: { code: 'ERR_SQLITE_ERROR', errcode: 13 } },
    })
    expect(await read(server, 'metrics')).toMatch(/^plant_store_commit_failures_total [1-9]/m)
    await makeRoom()
    // Nobody asks /readyz.
    const ready = { level: 'info', notReadyMs: expect.any(Number) }
    await expectLine(server, 'ready').toMatchObject(ready)
    const { err } = await server.end()
    const refused = linesOf(err, { status: 503 })
    expect(countOf(refused)).toBe(200)
    expect(refused.length).toBeLessThan(20)
    const cause = { message: expect.stringMatching(/full/), errcode: 13 }
    const why = { type: 'StoreUnavailableError', message: 'the disk is full', cause }
    const about = { error: 'unavailable', requestId: expect.any(String), tokenName: 'first-run' }
    for (const line of refused) expect(line).toMatchObject({ level: 'warn', ...about, err: why })
  })

  test('a failed sync is the cause of each 500, though the server ends', needsStrace, async () => {
    const server = await startServerProcess()
    // These open the connections, so that the others arrive together.
    await createAtOnce(server, 50)
    await failSystemCall(server.pid, 'fsync,fdatasync', 'EIO')
    const answers = await createAtOnce(server, 50, 2_000)
    // As many as were in the commit.
    expect(answers).toContain(50_001)
    const { err, code } = await server.ended
    expect(code).toBe(74)
    const unknown = linesOf(err, { error: 'outcome_unknown' })
    const answered = answers.filter((answer) => answer === 50_001)
    expect(countOf(unknown)).toBeGreaterThanOrEqual(answered.length)
    expect(unknown[0]).toMatchObject({
      level: 'error',
      err: { type: 'OutcomeUnknownError', cause: { errcode: expect.any(Number) } },
    })
    // The end says why.
    expect(linesOf(err, { msg: 'ready' })).toEqual([])
  })

  test('a store that another process holds is refused by doctor as by a server', async () => {
    const { path, run } = await arrange([])
    const holder = new DatabaseSync(path)
    onTestFinished(() => holder.close())
    holder.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; DELETE FROM plants')
    for (const command of ['doctor', 'serve']) {
      expect(await run(command)).toEqual(ends(69, 'busy with another process', ''))
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

  test('a database that was stopped is the cause of every 503 of a flood', async () => {
    const database = await prepareDatabase(await postgres.createDatabase())
    const server = await serve(database, { environment: { PLANT_STORE_LOG_LEVEL: 'info' } })
    const create = () => createAtOnce(server, 1)
    expect(await create()).toEqual([200])
    onTestFinished(async () => {
      await postgres.query(postgres.urlOf('postgres'), 'SELECT 1').catch(() => postgres.start())
    }, 30_000)
    postgres.kill()
    while (!(await create()).includes(50_300));
    const answers = await createAtOnce(server, 200)
    await expectLine(server, 'not ready').toMatchObject({
      reason: expect.stringContaining('ECONNREFUSED'),
      fix: expect.stringMatching(/^start the database/),
    })
    await postgres.start()
    await expectLine(server, 'ready').toBeDefined()
    expect(await create()).toEqual([200])
    const { err } = await server.end()
    const refused = linesOf(err, { status: 503 })
    const answered = answers.filter((answer) => answer === 50_300)
    expect(countOf(refused)).toBeGreaterThanOrEqual(Math.max(1, answered.length))
    const cause = { detail: expect.any(String), cause: expect.anything() }
    for (const line of refused) expect(line).toMatchObject({ level: 'warn', err: cause })
  })
})

describe('a flood', () => {
  function open(level: string) {
    const texts: string[] = []
    const failures = new FailureLog(createLog(level, { write: (line) => void texts.push(line) }))
    const fail = (text: string) => {
      const line = { error: 'unavailable', err: new Error(text) }
      failures.write({ level: 'warn', line, message: '' })
    }
    return { fail, flush: () => failures.flush(), lines: () => logLinesIn(texts.join('')) }
  }

  test('has a line for each reason, whatever the numbers in it, and counts the others', () => {
    const { fail, flush, lines } = open('info')
    for (let id = 0; id < 100; id++) fail(`plant ${id} is gone`)
    fail('another reason')
    expect(lines()).toHaveLength(2)
    flush()
    expect(lines()).toHaveLength(3)
    expect(lines()[2]).toMatchObject({ leftOut: 98, err: { message: 'plant 99 is gone' } })
  })

  test('of ever new reasons has a bound', () => {
    const { fail, flush, lines } = open('info')
    // Numbers would not distinguish them.
    for (let n = 0; n < 1_000; n++) fail(`reason ${'a'.repeat(n)}`)
    flush()
    expect(lines().length).toBeLessThan(70)
    expect(countOf(lines())).toBe(1_000)
  })

  test('has a line for each failure at debug', () => {
    const { fail, lines } = open('debug')
    for (let id = 0; id < 100; id++) fail('gone')
    expect(lines()).toHaveLength(100)
  })
})
