import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { openEnds } from '../../src/telemetry/ends/ends.ts'
import { prepareDatabase, serve } from '../postgres/served-database.ts'
import { usePostgres } from '../postgres/use-postgres.ts'
import { unitNodeFlags } from '../process/node-flags.ts'
import {
  logLinesIn,
  plantText,
  post,
  runToEnd,
  type ServerProcess,
  type ServerProcessOptions,
  startServerProcess,
} from '../process/server-process.ts'
import { mountSmallDisk, needsSmallDisk } from '../process/small-disk.ts'
import { delaySyncs, needsStrace, underSlowSyncs } from '../process/system-calls.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { readSamples } from './scraped-server.ts'

const postgres = usePostgres()

const THROWS_AT_SIGHUP = `data:text/javascript,${encodeURIComponent(
  "process.on('SIGHUP', () => { throw new Error('injected: nowhere') })",
)}`

/** What a server shows of ends and unknown outcomes; ends are left out where there are none. */
async function endsOf({ operationsUrl }: ServerProcess) {
  const samples = readSamples(await (await fetch(`${operationsUrl}/metrics`)).text())
  const ends: Record<string, number> = {}
  for (const reason of ['stopped', 'failed', 'exception', 'killed']) {
    const value = samples.get(`plant_store_ends_total{reason="${reason}"}`)
    if (value !== undefined && value > 0) ends[reason] = value
  }
  return {
    ...ends,
    isKept: samples.has('plant_store_ends_total{reason="killed"}'),
    unknownOutcomes: samples.get('plant_store_unknown_outcomes_total'),
  }
}

/** How often a process has a file open. */
function timesOpen(pid: number, path: string): number {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).filter((name) => readlinkSync(join(folder, name)) === path).length
}

/** A folder, and servers on its `plants.db` that start as the unit starts them. */
function arrange() {
  const folder = temporaryFolder()
  const path = join(folder, 'plants.db')
  let token: string | undefined
  return {
    path,
    file: `${path}.ends`,
    async start({ nodeFlags = [], environment, ...options }: Partial<ServerProcessOptions> = {}) {
      const server = await startServerProcess({
        folder,
        token,
        nodeFlags: [...nodeFlags, ...unitNodeFlags(folder)],
        environment: { PLANT_STORE_DATABASE_URL: `sqlite:${path}`, ...environment },
        ...options,
      })
      token ??= server.token
      return server
    },
  }
}

function lastEndIn(server: ServerProcess) {
  const lines = logLinesIn(server.output())
  return lines.find(({ msg }) => String(msg).startsWith('the last run ended'))
}

const isTime = expect.stringMatching(/^20\d\d-\d\d-\d\dT[\d:.]+Z$/)

test('each start logs how the last run ended, and shows how many ended so', async () => {
  const { start, path, file } = arrange()
  const first = await start({ nodeFlags: ['--import', THROWS_AT_SIGHUP] })
  expect(lastEndIn(first)).toBeUndefined()
  expect(await endsOf(first)).toEqual({ isKept: true, unknownOutcomes: 0 })
  await first.end('SIGHUP')

  const second = await start()
  const about = { began: isTime, ended: isTime }
  expect(lastEndIn(second)).toMatchObject({ level: 'warn', reason: 'exception', ...about })
  await second.end('SIGKILL')

  const third = await start()
  const killed = { level: 'warn', reason: 'killed', began: isTime, found: isTime }
  expect(lastEndIn(third)).toMatchObject(killed)
  expect(await endsOf(third)).toMatchObject({ exception: 1, killed: 1, unknownOutcomes: 0 })
  await post(third)
  // Otherwise the thread that commits may find no file at its start, and both replies be 503.
  await expect.poll(() => timesOpen(third.pid, path)).toBe(2)
  renameSync(path, `${path}.away`)
  const replies = await Promise.all([2, 3].map((id) => post(third, { body: plantText(id) })))
  expect(replies.map(({ status }) => status)).toContain(500)
  expect((await third.ended).code).toBe(74)
  renameSync(`${path}.away`, path)

  const fourth = await start()
  const unknownOutcomes = replies.filter(({ status }) => status === 500).length
  expect(lastEndIn(fourth)).toMatchObject({ level: 'warn', reason: 'failed', unknownOutcomes })
  const before = { exception: 1, killed: 1, failed: 1, unknownOutcomes, isKept: true }
  expect(await endsOf(fourth)).toEqual(before)
  await fourth.end()

  const fifth = await start()
  expect(lastEndIn(fifth)).toMatchObject({ level: 'info', reason: 'stopped', ...about })
  expect(await endsOf(fifth)).toEqual({ ...before, stopped: 1 })
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('servers on one file count each other when they have ended, and not before', async () => {
  const { start } = arrange()
  const one = await start()
  const other = await start()
  expect(await endsOf(other)).toEqual({ isKept: true, unknownOutcomes: 0 })
  await one.end('SIGKILL')
  const next = await start()
  // The one that ran all the time shows it as well, so that its own next start is no news.
  for (const server of [other, next]) expect(await endsOf(server)).toMatchObject({ killed: 1 })
  await other.end()
  expect(await endsOf(next)).toEqual({ killed: 1, stopped: 1, isKept: true, unknownOutcomes: 0 })
})

test('a start that fails is no end, and the run that goes on is none either', async () => {
  const { start } = arrange()
  const server = await start()
  const listen = { PLANT_STORE_LISTEN: new URL(server.url).host }
  await expect(start({ environment: listen })).rejects.toThrow('EADDRINUSE')
  expect(await endsOf(await start())).toEqual({ isKept: true, unknownOutcomes: 0 })
})

describe('a state file', () => {
  test.each<[what: string, make: (file: string) => void]>([
    ['of somebody else', (file) => writeFileSync(file, 'greenhouse: 7\n')],
    ['that is damaged', (file) => writeFileSync(file, '\0'.repeat(4_096))],
    ['that is no file', (file) => mkdirSync(file)],
    ['that nobody would ever write to', (file) => execFileSync('mkfifo', [file])],
  ])('%s is left alone, with one warning', async (_what, make) => {
    const { start, file } = arrange()
    make(file)
    const before = statSync(file)
    const server = await start()
    expect(await endsOf(server)).toEqual({ isKept: false, unknownOutcomes: 0 })
    const { code, err } = await server.end()
    expect(code).toBe(0)
    const warnings = logLinesIn(err).filter(({ msg }) => String(msg).includes(file))
    expect(warnings).toEqual([
      expect.objectContaining({ level: 'warn', reason: expect.any(String) }),
    ])
    expect(statSync(file)).toMatchObject({ size: before.size, mtimeMs: before.mtimeMs })
  })

  test('with a line that was cut off keeps its other lines, and takes more', async () => {
    const { start, file } = arrange()
    await (await start()).end()
    writeFileSync(file, `${readFileSync(file, 'utf8')}\n{"run":"x","end`)
    await (await start()).end('SIGKILL')
    expect(await endsOf(await start())).toMatchObject({ stopped: 1, killed: 1 })
  })

  test('that is long is shortened, and counts as much as before', async () => {
    const { start, file } = arrange()
    const ended = '2026-01-01T00:00:00.000Z'
    const reasons = ['stopped', 'failed', 'killed', 'stopped', 'stopped']
    const lines = Array.from({ length: 1_000 }, (_, run) =>
      JSON.stringify({ run: `${run}`, ended, reason: reasons[run % 5], unknownOutcomes: run % 2 }),
    )
    writeFileSync(file, lines.join('\n'))
    const expected = { stopped: 600, failed: 200, killed: 200, unknownOutcomes: 500 }
    for (const stopped of [600, 601]) {
      const server = await start()
      expect(await endsOf(server)).toEqual({ ...expected, stopped, isKept: true })
      await server.end()
    }
    expect(statSync(file).size).toBeLessThan(8_192)
    expect(existsSync(`${file}.partial`)).toBe(false)
  })

  test('may be named, or be none', async () => {
    const { start, file, path } = arrange()
    const elsewhere = { environment: { PLANT_STORE_STATE_FILE: `${path}-ends.json` } }
    await (await start(elsewhere)).end()
    expect(await endsOf(await start(elsewhere))).toMatchObject({ stopped: 1 })
    const none = await start({ environment: { PLANT_STORE_STATE_FILE: 'none' } })
    expect(await endsOf(none)).toEqual({ isKept: false, unknownOutcomes: 0 })
    expect(existsSync(file)).toBe(false)
  })

  test('of a server over PostgreSQL is the one that is named, and else there is none', async () => {
    const database = await prepareDatabase(await postgres.createDatabase())
    const file = join(temporaryFolder(), 'ends')
    const named = { environment: { PLANT_STORE_STATE_FILE: file } }
    await (await serve(database, named)).end('SIGKILL')
    expect(await endsOf(await serve(database, named))).toMatchObject({ killed: 1 })
    expect(await endsOf(await serve(database))).toEqual({ isKept: false, unknownOutcomes: 0 })
  })

  test('is no fault to doctor, and stays out of a backup', async () => {
    const { start, path } = arrange()
    await (await start()).end()
    const environment = { PLANT_STORE_DATABASE_URL: `sqlite:${path}` }
    const doctor = await runToEnd({ environment, args: ['doctor'] })
    expect(doctor.out).not.toContain('.ends')
    const backup = await runToEnd({ environment, args: ['backup', `${path}.copy`] })
    expect({ code: backup.code, hasEnds: existsSync(`${path}.copy.ends`) }).toEqual({
      code: 0,
      hasEnds: false,
    })
  })
})

test('the count of unknown outcomes is saved while the server runs, so that a kill keeps it', async () => {
  const file = join(temporaryFolder(), 'ends')
  const ends = await openEnds(file, pino({ level: 'silent' }))
  await ends.begin()
  for (let outcome = 0; outcome < 3; outcome++) ends.noteUnknownOutcome()
  const deadline = performance.now() + 20_000
  while (!readFileSync(file, 'utf8').includes('"unknownOutcomes":3')) {
    expect(performance.now()).toBeLessThan(deadline)
    await sleep(50)
  }
  // As a next server reads it: this process is the one that began it, so it counts as gone.
  const next = await openEnds(file, pino({ level: 'silent' }))
  expect(await next.totals()).toMatchObject({ unknownOutcomes: 3, ends: { killed: 1 } })
})

describe('a disk', () => {
  test('that is full at the end leaves the end unwritten: the next start counts a kill', {
    ...needsSmallDisk,
  }, async () => {
    const { folder, outside, under, fill } = await mountSmallDisk(16)
    const environment = { PLANT_STORE_DATABASE_URL: `sqlite:${folder}/plants.db` }
    const server = await startServerProcess({ under, environment })
    fill()
    // The page of the line about the beginning has room for the end; so it gets a full one.
    const file = `${outside}/plants.db.ends`
    writeFileSync(file, `${readFileSync(file, 'utf8')}${'\n'.repeat(4096 - statSync(file).size)}`)
    const { code, err } = await server.end()
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('counts this run as') })
    rmSync(`${outside}/filler`)
    const next = await startServerProcess({ under, environment, token: server.token })
    expect(await endsOf(next)).toMatchObject({ killed: 1 })
  })

  test('that never syncs holds up no end', needsStrace, async () => {
    const { start, file } = arrange()
    const server = await start()
    await delaySyncs(server.pid, file)
    expect((await server.end()).code).toBe(0)
    expect(await endsOf(await start())).toMatchObject({ stopped: 1 })
  })

  test('that never syncs holds up no start', needsStrace, async () => {
    const { start, file } = arrange()
    const server = await start({ under: underSlowSyncs(file) })
    await post(server)
    const [warning] = logLinesIn(server.output()).filter(({ msg }) => String(msg).includes(file))
    expect(warning).toMatchObject({
      level: 'warn',
      reason: 'the disk did not answer within 500 ms',
    })
    const listening = logLinesIn(server.output()).find(({ msg }) => msg === 'listening')
    process.kill(Number(listening?.pid), 'SIGKILL')
  })
})
