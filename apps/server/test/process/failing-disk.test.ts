import { existsSync, renameSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  clientWithoutRetries,
  createMany,
  startServerProcess,
  statusesOf,
} from '../../../../test/server-process.ts'
import { readPlants } from '../../../../test/sqlite-file.ts'
import { startTcpProxy } from '../../../../test/tcp-proxy.ts'
import { makeStore, query, spreadPlants } from '../commands/plants.ts'
import { arrange, ends } from '../commands/program.ts'
import { prepareDatabase, serve } from '../postgres/served-database.ts'
import { startStorm } from '../postgres/storm.ts'
import { failSystemCall, needsStrace } from './system-calls.ts'

test('no plant is lost, doubled or altered, and no response wrong, by 20 kills under load', {
  timeout: 300_000,
}, async () => {
  const { path } = await arrange([])
  const database = await prepareDatabase(`sqlite:${path}`)
  let server = await serve(database)
  const address = await startTcpProxy(server.port)
  onTestFinished(address.close)
  const storm = startStorm({ client: clientWithoutRetries({ ...database, url: address.url }) })
  for (let kill = 0; kill < 20; kill++) {
    // However busy the machine is, each kill comes after responses that it must not undo.
    await storm.acknowledges(20)
    await sleep(Math.random() * 200)
    await server.end('SIGKILL')
    server = await serve(database)
    address.lead(server.port)
  }
  await storm.endAndJudge(database.databaseUrl)
  expect((await server.end()).code).toBe(0)
  expect(query(path, 'PRAGMA integrity_check')).toEqual({ integrity_check: 'ok' })
})

/** A server with so many plants, whose ids count from 0. */
async function start(plants: number) {
  const { folder, path } = await arrange()
  const server = await startServerProcess({ folder })
  await createMany(server, plants)
  const statusOf = async (page: string) => (await fetch(server.operationsUrl + page)).status
  const storedIds = () => readPlants(path).map(({ id }) => Number(id))
  return { folder, path, server, statusOf, storedIds }
}

/** Possible outcomes of creates where a disk fails; the last create may find no server. */
const NOT_STORED = [50_001, 50_300, undefined]

describe('a server whose disk fails', needsStrace, () => {
  test('answers 503 while the disk is full, and stores again once there is room', async () => {
    const { folder, server, statusOf, storedIds } = await start(1)
    const makeRoom = await failSystemCall(server.pid, 'pwrite64', 'ENOSPC')
    const refused = await server.client.rest.createPlant({ body: { id: 1, name: 'full' } })
    expect(refused).toMatchObject({ status: 503, body: { error: 50300 } })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect([await statusOf('/readyz'), await statusOf('/livez')]).toEqual([503, 200])
    await server.untilLogged('the store is not ready: the disk is full')
    await server.untilLogged(`make room on the file system of ${folder}/data`)

    await makeRoom()
    expect(await statusOf('/readyz')).toBe(200)
    expect(storedIds()).toEqual([0])
    await server.client.createPlant({ id: 1, name: 'room again' })
    expect((await server.end()).code).toBe(0)
    expect(storedIds()).toEqual([0, 1])
  })

  test.each([
    ['a sync', 'fsync,fdatasync'],
    ['a write', 'pwrite64'],
  ])('answers that the outcome is unknown when %s fails, and ends', async (_what, call) => {
    const { folder, server, storedIds } = await start(1)
    await failSystemCall(server.pid, call, 'EIO')
    const ids = [1, 2, 3, 4, 5, 6, 7, 8]
    const answers = await statusesOf(server, ids)
    const { code, err } = await server.ended
    expect(code).toBe(74)
    expect(err).toMatch(/^{"level":"fatal".*"exitCode":74,"msg":"stopped"}$/m)
    expect(answers).toContain(50_001)
    expect(answers.filter((answer) => !NOT_STORED.includes(answer))).toEqual([])

    const next = await startServerProcess({ folder, token: server.token })
    expect(storedIds()).toContain(0)
    expect(storedIds().filter((id) => answers[ids.indexOf(id)] === 50_300)).toEqual([])
    expect(new Set(await statusesOf(next, ids))).toEqual(new Set([200]))
    expect(storedIds()).toEqual([0, ...ids])
  })
})

/** As an operator would put a backup in its place. */
async function replace(path: string): Promise<void> {
  await makeStore(`${path}.other`, spreadPlants(3))
  renameSync(`${path}.other`, path)
}

const hasLog = (path: string) => existsSync(`${path}-wal`)
const isWhole = (path: string) => readPlants(path).length === 3

describe.each([
  ['deleted', 'plants.db was deleted or moved', async (path: string) => rmSync(path), hasLog],
  ['replaced', 'plants.db was replaced by another file', replace, isWhole],
])('a server whose database is %s', (_what, reason, change, isLeft) => {
  test.each([
    ['before its first plant', 0],
    ['after a lone plant', 1],
    ['while its thread commits', 200],
  ])(
    '%s answers no create 200 from then on, leaves what is there, says so, and ends',
    async (...row) => {
      const [, before] = row
      const { server, path } = await start(before)
      await change(path)
      const answers = await statusesOf(server, [1_001, 1_002, 1_003, 1_004, 1_005, 1_006])
      expect(answers.filter((answer) => !NOT_STORED.includes(answer))).toEqual([])
      expect(await server.ended).toMatchObject(ends(74, reason))
      expect(isLeft(path)).toBe(true)
    },
  )

  test('is not ready any more, and ends', async () => {
    const { server, path, statusOf } = await start(0)
    await change(path)
    expect(await statusOf('/readyz')).toBe(503)
    expect((await server.ended).code).toBe(74)
  })

  test('does not end as if all was well when it is asked to', async () => {
    const { server, path } = await start(0)
    await change(path)
    expect((await server.end()).code).toBe(74)
  })
})
