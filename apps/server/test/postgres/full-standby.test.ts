import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../../packages/client/runtimes/needs.ts'
import { createHistory } from './history.ts'
import { startPostgres } from './postgres-server.ts'
import { clientOf, prepareDatabase, readRows, serve } from './served-database.ts'
import { makeStandby, waitForStandby } from './standby.ts'
import { usePostgres } from './use-postgres.ts'

const MEBIBYTES = 160

const TMPFS = ['-t', 'tmpfs', '-o', `size=${MEBIBYTES}m,mode=755`, 'none']

const canMount = spawnSync('unshare', ['--mount', 'mount', ...TMPFS, '/mnt']).status === 0

const primary = usePostgres()

/** A synchronous standby on a disk of its own, and what fills that. */
async function startOnSmallDisk() {
  let filler = ''
  const standby = await startPostgres([], {
    async makeFolder(folder) {
      mkdirSync(folder)
      expect(spawnSync('mount', [...TMPFS, folder]).status).toBe(0)
      // Also while somebody has a file open in it.
      onTestFinished(() => void spawnSync('umount', ['--lazy', folder]))
      await makeStandby(primary, folder)
      filler = join(folder, 'filler')
    },
  })
  onTestFinished(() => standby.stop({ keepFolder: true }))
  await waitForStandby(primary)
  const fill = () => {
    spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4096'], { stdio: 'ignore' })
  }
  return { standby, fill, makeRoom: () => rmSync(filler) }
}

/** Lets the primary write one log file after the other until its standby has no room for the next. */
async function waitForTheLastStandby(): Promise<void> {
  const url = primary.urlOf('postgres')
  const attached = 'SELECT FROM pg_stat_replication'
  while ((await primary.query(url, attached)).length > 0) {
    await primary.query(url, 'SELECT pg_switch_wal()')
    await sleep(50)
  }
}

test('a synchronous standby whose disk is full makes creates wait, and a failover to it loses nothing', {
  ...needs('mount, as root', canMount),
  timeout: 120_000,
}, async () => {
  const database = await prepareDatabase(await primary.createDatabase())
  const { standby, fill, makeRoom } = await startOnSmallDisk()
  const server = await serve(database)
  const history = createHistory()
  const client = clientOf(server.url, database.token)
  let isOver = false
  let id = 0n
  const call = async () => {
    while (!isOver) await history.send(client, { id: id++, name: 'Fern' })
  }
  const callers = Array.from({ length: 8 }, call)
  await expect.poll(() => history.acknowledged).toBeGreaterThan(200)
  fill()
  await waitForTheLastStandby()
  // Replies to what it had before are on their way.
  await sleep(200)
  const stored = history.acknowledged
  await sleep(1_000)
  expect(history.acknowledged).toBe(stored)
  makeRoom()
  await standby.stop({ keepFolder: true })
  await standby.start()
  await expect.poll(() => history.acknowledged).toBeGreaterThan(stored + 200)
  primary.kill()
  isOver = true
  await Promise.all(callers)
  await standby.query(standby.urlOf('postgres'), 'SELECT pg_promote()')
  const name = new URL(database.databaseUrl).pathname.slice(1)
  const verdict = history.judge(await readRows(standby.urlOf(name)))
  expect(verdict).toMatchObject({ lost: [], altered: [], doubled: [], lies: [] })
})
