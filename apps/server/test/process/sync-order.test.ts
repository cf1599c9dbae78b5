import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { makeStore, spreadPlants } from '../commands/plants.ts'
import { runShell } from '../commands/shell.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { startServerProcess } from './server-process.ts'
import { joinInterrupted, needsStrace, recordSystemCalls } from './system-calls.ts'

const LOG_WRITTEN = /pwrite64\(.*plants\.db-wal>.* = \d+$/
const LOG_SYNCED = /f(?:data)?sync\(.*plants\.db-wal>\)\s* = 0$/
const LOG_BEGUN = /pwrite64\(.*plants\.db-wal>.*, 32, 0\) = 32$/
const DATABASE_WRITTEN = /pwrite64\(.*plants\.db>.* = \d+$/
const DATABASE_SYNCED = /f(?:data)?sync\(.*plants\.db>\)\s* = 0$/
const ANSWERED = /(?:write|writev)\(.*HTTP\/1\.1 200 OK/

/** A server whose thread for commits has started, which lets the log grow to its usual size at once. */
async function startWarm() {
  const folder = temporaryFolder()
  const server = await startServerProcess({ folder })
  await server.client.createPlant({ id: 0, name: 'warm' })
  const logBytes = () => statSync(join(folder, 'data/plants.db-wal')).size
  await expect.poll(logBytes).toBeGreaterThan(4_000_000)
  return server
}

describe('the system calls of a server', needsStrace, () => {
  test('the log is written and synced before each 200', async () => {
    const server = await startWarm()
    const stop = await recordSystemCalls(server.pid)
    for (let id = 1; id <= 10; id++) await server.client.createPlant({ id, name: 'Fern' })
    const calls = await stop()

    let replies = 0
    let isWritten = false
    let isSynced = false
    for (const call of calls) {
      if (LOG_WRITTEN.test(call)) [isWritten, isSynced] = [true, false]
      if (LOG_SYNCED.test(call)) isSynced = true
      if (!ANSWERED.test(call)) continue
      expect({ isWritten, isSynced }).toEqual({ isWritten: true, isSynced: true })
      isWritten = false
      replies++
    }
    expect(replies).toBe(10)
  })

  test('so it is where plants come together, and a thread of their own commits them', async () => {
    const [bursts, plants] = [10, 50]
    const server = await startWarm()
    const stop = await recordSystemCalls(server.pid)
    for (let burst = 1; burst <= bursts; burst++) {
      const ids = Array.from({ length: plants }, (_, index) => burst * plants + index)
      await Promise.all(ids.map((id) => server.client.createPlant({ id, name: 'Fern' })))
    }
    const calls = await stop()

    let replies = 0
    let isSynced = false
    for (const call of calls) {
      if (LOG_WRITTEN.test(call)) isSynced = false
      if (LOG_SYNCED.test(call)) isSynced = true
      // While a burst is answered, its next commit may be on its way.
      if (ANSWERED.test(call) && ++replies % plants === 0) expect(isSynced).toBe(true)
    }
    expect(replies).toBe(bursts * plants)
  })

  test('the log begins anew only when the database has what was in it, synced', async () => {
    const server = await startWarm()
    const stop = await recordSystemCalls(server.pid)
    const name = 'a long name '.repeat(200)
    for (let burst = 1; burst <= 60; burst++) {
      const ids = Array.from({ length: 100 }, (_, index) => burst * 100 + index)
      await Promise.all(ids.map((id) => server.client.createPlant({ id, name })))
    }
    const calls = await stop()

    let isSynced = true
    let beginnings = 0
    for (const call of calls) {
      if (DATABASE_WRITTEN.test(call)) isSynced = false
      if (DATABASE_SYNCED.test(call)) isSynced = true
      if (!LOG_BEGUN.test(call)) continue
      expect(isSynced).toBe(true)
      beginnings++
    }
    expect(beginnings).toBeGreaterThanOrEqual(2)
  })

  test('the times of the log are seldom looked at, which would make its next sync longer', async () => {
    const server = await startWarm()
    // Until the folder's last change is so old that the next one shows.
    await sleep(2_100)
    const stop = await recordSystemCalls(server.pid)
    const startedAt = performance.now()
    for (let id = 1; id <= 100; id++) await server.client.createPlant({ id, name: 'Fern' })
    const seconds = (performance.now() - startedAt) / 1_000
    const calls = await stop()
    expect(calls.filter((call) => LOG_SYNCED.test(call)).length).toBeGreaterThanOrEqual(100)
    const looksAt = (name: string) =>
      calls.filter((call) => /stat/.test(call) && call.includes(name))
    expect(looksAt('/data"').length).toBeGreaterThanOrEqual(100)
    expect(looksAt('/plants.db-wal"').length).toBeLessThanOrEqual(2 * (1 + seconds))
  })

  test('what a killed server wrote is synced before the next one listens', async () => {
    const folder = temporaryFolder()
    const killed = await startServerProcess({ folder })
    await killed.client.createPlant({ id: 1, name: 'Fern' })
    await killed.end('SIGKILL')

    const file = join(folder, 'calls')
    const calls = 'trace=fsync,fdatasync,write'
    const under = ['strace', '-D', '-f', '-y', '-s', '64', '-o', file, '-e', calls]
    const server = await startServerProcess({ folder, token: killed.token, under })
    await server.client.createPlant({ id: 1, name: 'Fern' })
    await server.end()
    const lines = joinInterrupted(readFileSync(file, 'utf8').split('\n'))
    const listens = lines.findIndex((line) => line.includes('Plant Store listens'))
    const beforeListening = lines.slice(0, listens)
    expect(listens).toBeGreaterThan(0)
    expect(beforeListening.some((line) => LOG_SYNCED.test(line))).toBe(true)
    expect(beforeListening.some((line) => DATABASE_SYNCED.test(line))).toBe(true)
  })

  test('a backup and its name are on the disk before it is said to be', async () => {
    const folder = temporaryFolder()
    await makeStore(join(folder, 'plants.db'), spreadPlants(10))
    const file = join(folder, 'calls')
    const under = `strace -f -y -o ${file} -e trace=fsync,fdatasync,link,linkat,write`
    const line = `server backup b.db --database-url sqlite:plants.db`
    const { code } = await runShell(folder, line, under)
    expect(code).toBe(0)
    const calls = joinInterrupted(readFileSync(file, 'utf8').split('\n'))
    const order = [
      /f(?:data)?sync\(.*b\.db\.\w+\.partial>\)\s* = 0$/,
      /link(?:at)?\(.*b\.db\.\w+\.partial", .*b\.db"/,
      new RegExp(`fsync\\(.*${folder}>\\)\\s* = 0$`),
      /write\(2.*b\.db holds 10 plants/,
    ].map((pattern) => calls.findLastIndex((call) => pattern.test(call)))
    expect(order.every((place) => place >= 0)).toBe(true)
    expect(order).toEqual(order.toSorted((one, other) => one - other))
  })
})
