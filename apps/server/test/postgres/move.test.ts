import { createHash } from 'node:crypto'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  copyAll,
  cutOver,
  type MoveOptions,
  resume,
  toTarget,
} from '../../src/commands/move/move-plants.ts'
import { openSqliteMove } from '../../src/sqlite/maintenance/move.ts'
import { openSqliteStore } from '../../src/sqlite/sqlite.ts'
import { runOn, runProgram } from '../commands/program.ts'
import { runShell } from '../commands/shell.ts'
import {
  post,
  runToEnd,
  type ServerProcess,
  startServerProcess,
} from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { createHistory } from './history.ts'
import { startMove } from './move-process.ts'
import {
  clientOf,
  type PreparedDatabase,
  prepareDatabase,
  readRows,
  serve,
  waitForReadiness,
} from './served-database.ts'
import { openSession } from './sessions.ts'
import { startStorm } from './storm.ts'
import { newDatabase, openStoreAt, usePostgres } from './use-postgres.ts'

vi.setConfig({ testTimeout: 90_000 })

const postgres = usePostgres()

const CAUGHT_UP = 'To cut over'

function openFile(path: string) {
  return openSqliteStore({ path, queueLimit: 65_536 })
}

async function store(path: string, ...ids: bigint[]): Promise<void> {
  const file = await openFile(path)
  await Promise.all(ids.map((id) => file.plants.create({ id, name: `plant ${id}` })))
  await file.close()
}

/** A move within this process, over the real stores. */
async function openMove(path: string, databaseUrl: string): Promise<MoveOptions> {
  const source = await openSqliteMove(path)
  onTestFinished(() => source.close())
  return {
    source,
    target: toTarget(await openStoreAt(databaseUrl, 65_536)),
    counts: { copied: 0, conflicts: 0, outage: undefined },
    signal: new AbortController().signal,
    onConflict: () => {},
  }
}

async function idsIn(databaseUrl: string): Promise<bigint[]> {
  const ids = (await readRows(databaseUrl)).map(({ id }) => BigInt(id))
  return ids.toSorted((one, other) => (one < other ? -1 : 1))
}

describe('move, while two servers on one file go on,', () => {
  test('loses no plant that was answered 200, whoever is killed meanwhile', async () => {
    const folder = temporaryFolder()
    const database = await prepareDatabase(await postgres.createDatabase())
    const environment = { PLANT_STORE_WAIT_LIMIT_MS: '60000' }
    let first = await startServerProcess({ folder, environment })
    const { token } = first
    const start = () => startServerProcess({ folder, environment, token })
    const second = await start()
    const history = createHistory()
    const clients = () => [first, second].map(({ url }) => clientOf(url, token))
    const storm = startStorm({ history, clients, callers: 8, seed: Date.now() })
    await storm.acknowledges(500)

    const killed = startMove(folder, database.databaseUrl)
    await killed.untilSaid(CAUGHT_UP)
    await storm.acknowledges(100)
    await first.end('SIGKILL')
    first = await start()
    await storm.acknowledges(100)
    expect(await killed.end('SIGKILL')).toBe(null)
    await storm.acknowledges(100)

    const following = startMove(folder, database.databaseUrl)
    await following.untilSaid('Goes on where the last run ended')
    await following.untilSaid(CAUGHT_UP)
    postgres.kill()
    await storm.acknowledges(200)
    await postgres.start()
    const finishing = startMove(folder, database.databaseUrl, '--finish')
    expect(await finishing.ended, finishing.output()).toBe(0)
    expect(finishing.output()).toContain('Moved: every plant of SQLite')

    const isClosed = async () => (await post({ url: second.url, token })).status === 503
    await expect.poll(isClosed).toBe(true)
    await storm.stop()
    const verdict = history.judge(await readRows(database.databaseUrl))
    expect(verdict).toMatchObject({ lost: [], altered: [], doubled: [], lies: [] })
    expect(verdict.acknowledged).toBeGreaterThan(1_000)
    expect(await following.ended, following.output()).toBe(69)
    expect(following.output()).toContain('was finished by another command')
    await expectClosed(second, folder, database)
  })
})

/** The old store stores nothing more, whoever asks, and the new one all. */
async function expectClosed(
  old: ServerProcess,
  folder: string,
  database: PreparedDatabase,
): Promise<void> {
  const refused = await post(old, { body: '{"id":77,"name":"late"}' })
  expect([refused.status, await refused.json()]).toMatchObject([503, { error: 50_300 }])
  const ready = await fetch(`${old.operationsUrl}/readyz`)
  expect([ready.status, await ready.json()]).toMatchObject([
    503,
    { message: expect.stringMatching(/have moved.*all of them are in PostgreSQL/) },
  ])
  await old.end()
  const again = await runToEnd({ folder })
  expect(again).toMatchObject({
    code: 69,
    err: expect.stringMatching(/all of them are in Postgre/),
  })
  const server = await serve(database)
  await waitForReadiness(server, true)
  expect((await post(server, { body: '{"id":77,"name":"late"}' })).status).toBe(200)
}

describe('move', () => {
  test('carries every id and text exactly, in bounded memory', async () => {
    const folder = temporaryFolder()
    const path = join(folder, 'plants.db')
    const file = await openFile(path)
    const ids = [-(2n ** 63n), 2n ** 63n - 1n, 0n]
    for (let n = 1n; n < 20_000n; n++) ids.push(BigInt.asIntN(64, n * 0x9e3779b97f4a7c15n))
    const tags = [undefined, '', '"tag"\n🌿']
    await Promise.all(
      ids.map((id, n) => file.plants.create({ id, name: `plant ${n}`, tag: tags[n % 3] })),
    )
    await file.close()
    const databaseUrl = await newDatabase(postgres)
    const line = `server move --from 'sqlite:${path}' --database-url '${databaseUrl}' --finish`
    const moved = await runShell(folder, line)
    expect(moved, moved.err).toMatchObject({ code: 0 })
    expect(moved.peakMemoryMiB).toBeLessThan(250)
    const exported = await Promise.all([
      runOn(path, 'export'),
      runProgram(['export', '--database-url', databaseUrl]),
    ])
    const digests = exported.map(({ out }) => createHash('sha256').update(out).digest('hex'))
    expect(exported[0].out.split('\n')).toHaveLength(ids.length + 1)
    expect(digests[1]).toBe(digests[0])
    const left = await postgres.query(
      databaseUrl,
      "SELECT FROM pg_tables WHERE tablename = 'moves'",
    )
    expect(left).toEqual([])
  })

  test('does not cut over while an id has other content there, and says which', async () => {
    const folder = temporaryFolder()
    const server = await startServerProcess({ folder })
    await post(server)
    const databaseUrl = await newDatabase(postgres)
    await postgres.query(databaseUrl, "INSERT INTO plants VALUES (1, 'other', NULL)")
    for (const finish of [startMove, startMove]) {
      const refused = finish(folder, databaseUrl, '--finish')
      expect(await refused.ended).toBe(65)
      expect(refused.output()).toMatch(/the old store serves on: 1 of its plants/)
    }
    expect((await post(server, { body: '{"id":2,"name":"Moss"}' })).status).toBe(200)
    await postgres.query(databaseUrl, 'DELETE FROM plants')
    expect(await startMove(folder, databaseUrl, '--undo').ended).toBe(0)
    expect(await startMove(folder, databaseUrl, '--finish').ended).toBe(0)
    expect(await idsIn(databaseUrl)).toEqual([1n, 2n])
    expect(await startMove(folder, databaseUrl, '--undo').ended).toBe(0)
    expect((await post(server, { body: '{"id":3,"name":"Moss"}' })).status).toBe(200)
  })

  test('lets the old store go on where the target is away in the middle of the cut-over', async () => {
    const folder = temporaryFolder()
    const path = join(folder, 'data/plants.db')
    const server = await startServerProcess({ folder })
    const databaseUrl = await newDatabase(postgres)
    const options = await openMove(path, databaseUrl)
    await copyAll(options)
    expect((await post(server)).status).toBe(200)
    const other = await openSession(databaseUrl)
    await other.query('BEGIN; LOCK TABLE plants IN EXCLUSIVE MODE')
    await expect(cutOver(options)).rejects.toThrow(/database is not available/)
    expect((await post(server, { body: '{"id":2,"name":"Moss"}' })).status).toBe(200)
    await other.query('ROLLBACK')

    const again = await openMove(path, databaseUrl)
    await copyAll(again)
    await cutOver(again)
    // A bar that shows it may ask until the command ends.
    expect(again.source.countLeft()).toBe(0)
    expect(await idsIn(databaseUrl)).toEqual([1n, 2n])
    expect((await post(server, { body: '{"id":3,"name":"Moss"}' })).status).toBe(503)
  })

  test('goes on where it was, but from the start in a store that was put back', async () => {
    const folder = temporaryFolder()
    const path = join(folder, 'plants.db')
    await store(path, 1n)
    const databaseUrl = await newDatabase(postgres)
    const run = async () => {
      const options = await openMove(path, databaseUrl)
      const isResumed = await resume(options)
      await copyAll(options)
      options.source.close()
      return { isResumed, copied: options.counts.copied }
    }
    expect(await run()).toEqual({ isResumed: false, copied: 1 })
    cpSync(path, `${path}.earlier`)
    await store(path, 2n, 3n)
    expect(await run()).toEqual({ isResumed: true, copied: 2 })
    for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
    cpSync(`${path}.earlier`, path)
    await store(path, 4n, 5n, 6n)
    expect(await run()).toEqual({ isResumed: false, copied: 4 })
    expect(await idsIn(databaseUrl)).toEqual([1n, 2n, 3n, 4n, 5n, 6n])
  })

  test('starts again in another target, and a backup of the store knows nothing of it', async () => {
    const folder = temporaryFolder()
    const path = join(folder, 'plants.db')
    await store(path, 1n)
    const targets = [await newDatabase(postgres), await newDatabase(postgres)]
    const first = await openMove(path, targets[0] ?? '')
    await copyAll(first)
    await store(path, 2n)
    expect(await runOn(path, ['backup', join(folder, 'copy.db')])).toMatchObject({ code: 0 })
    const second = await openMove(path, targets[1] ?? '')
    expect(await resume(second)).toBe(false)
    await copyAll(second)
    expect(await idsIn(targets[1] ?? '')).toEqual([1n, 2n])
    const copied = await openMove(join(folder, 'copy.db'), targets[0] ?? '')
    expect(copied.source.id).not.toBe(first.source.id)
  })

  test.each([
    [['--from', 'postgres://127.0.0.1:9/plants'], 78, /pg_dump and pg_restore/],
    [['--from', 'sqlite:./nothing.db', '--undo'], 69, /there is no plant store in/],
  ])('refuses %j', async (args, code, message) => {
    const ended = await runProgram(['move', ...args])
    expect(ended).toMatchObject({ code, err: expect.stringMatching(message) })
  })
})
