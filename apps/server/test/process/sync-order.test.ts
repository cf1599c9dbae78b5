import { readFileSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createMany, startServerProcess } from '../../../../test/server-process.ts'
import { arrange } from '../commands/program.ts'
import { expectInOrder, joinInterrupted, needsStrace, recordSystemCalls } from './system-calls.ts'

const LOG_WRITTEN = /pwrite64\(.*plants\.db-wal>.* = \d+$/
const LOG_SYNCED = /f(?:data)?sync\(.*plants\.db-wal>\)\s* = 0$/
const LOG_BEGUN = /pwrite64\(.*plants\.db-wal>.*, 32, 0\) = 32$/
const DATABASE_WRITTEN = /pwrite64\(.*plants\.db>.* = \d+$/
const DATABASE_SYNCED = /f(?:data)?sync\(.*plants\.db>\)\s* = 0$/
const ANSWERED = /(?:write|writev)\(.*HTTP\/1\.1 200 OK/

/** A server without plants, whose thread for commits lets the log grow to its usual size at once. */
async function recordWarm() {
  const { folder, at } = await arrange()
  const server = await startServerProcess({ folder })
  const logBytes = () => statSync(at('data/plants.db-wal')).size
  await expect.poll(logBytes).toBeGreaterThan(4_000_000)
  // Until the folder's last change is so old that the next one shows.
  await sleep(2_100)
  return { server, stop: await recordSystemCalls(server.pid) }
}

/** A letter for each call of a kind, in order; other calls are left out. */
function spell(calls: readonly string[], kinds: Readonly<Record<string, RegExp>>): string {
  const letterOf = (call: string) =>
    Object.entries(kinds).find(([, pattern]) => pattern.test(call))?.[0] ?? ''
  return calls.map(letterOf).join('')
}

describe('the system calls of a server', needsStrace, () => {
  test('the log is written and synced before each 200, and its times are seldom looked at', async () => {
    const { server, stop } = await recordWarm()
    const startedAt = performance.now()
    for (let id = 1; id <= 100; id++) await server.client.createPlant({ id, name: 'Fern' })
    const seconds = (performance.now() - startedAt) / 1_000
    const calls = await stop()
    const letters = spell(calls, { w: LOG_WRITTEN, s: LOG_SYNCED, A: ANSWERED })
    expect(letters).toMatch(/^(?:[ws]*ws+A){100}[ws]*$/)
    // A look at the log would make its next sync longer.
    const looksAt = (name: string) =>
      calls.filter((call) => /stat/.test(call) && call.includes(name)).length
    expect(looksAt('/data"')).toBeGreaterThanOrEqual(100)
    expect(looksAt('/plants.db-wal"')).toBeLessThanOrEqual(2 * (1 + seconds))
  })

  test('so it is where plants come together, and a thread of their own commits them', async () => {
    const { server, stop } = await recordWarm()
    for (let burst = 1; burst <= 10; burst++) await createMany(server, 50, { from: burst * 50 })
    const letters = spell(await stop(), { w: LOG_WRITTEN, s: LOG_SYNCED, A: ANSWERED })
    const before = letters.split('A')
    expect(before).toHaveLength(1 + 10 * 50)
    // While a burst is answered, its next commit may be on its way.
    for (let burst = 1; burst <= 10; burst++) {
      expect(before.slice(0, burst * 50).join('')).toMatch(/s$/)
    }
  })

  test('the log begins anew only when the database has what was in it, synced', async () => {
    const { server, stop } = await recordWarm()
    const name = 'a long name '.repeat(200)
    for (let burst = 1; burst <= 60; burst++) {
      await createMany(server, 100, { from: burst * 100, name })
    }
    const kinds = { B: LOG_BEGUN, w: DATABASE_WRITTEN, s: DATABASE_SYNCED }
    const letters = spell(await stop(), kinds)
    expect(letters).not.toContain('wB')
    expect(letters.match(/B/g)?.length).toBeGreaterThanOrEqual(2)
  })

  test('what a killed server wrote is synced before the next one listens', async () => {
    const { folder, at } = await arrange()
    const killed = await startServerProcess({ folder })
    await killed.client.createPlant({ id: 1, name: 'Fern' })
    await killed.end('SIGKILL')

    const options = ['-D', '-f', '-y', '-s', '64', '-e', 'trace=fsync,fdatasync,write']
    const under = ['strace', ...options, '-o', 'calls']
    const server = await startServerProcess({ folder, token: killed.token, under })
    await server.client.createPlant({ id: 1, name: 'Fern' })
    await server.end()
    const lines = joinInterrupted(readFileSync(at('calls'), 'utf8').split('\n'))
    const listens = lines.findIndex((line) => line.includes('Plant Store listens'))
    expect(listens).toBeGreaterThan(0)
    const kinds = { l: LOG_SYNCED, d: DATABASE_SYNCED }
    expect(spell(lines.slice(0, listens), kinds)).toMatch(/l.*d|d.*l/)
  })

  test('a backup and its name are on the disk before it is said to be', async () => {
    const name = 'a long name '.repeat(600)
    const plants = Array.from({ length: 2_000 }, (_, id) => ({ id: BigInt(id), name }))
    const { folder, at, shell } = await arrange(plants)
    const trace = '-e trace=fsync,fdatasync,link,linkat,write'
    const { code } = await shell('server backup b.db', `strace -f -y -o calls ${trace}`)
    expect(code).toBe(0)
    const calls = joinInterrupted(readFileSync(at('calls'), 'utf8').split('\n'))
    expectInOrder(calls, [
      /f(?:data)?sync\(.*b\.db\.\w+\.partial>\)\s* = 0$/,
      /link(?:at)?\(.*b\.db\.\w+\.partial", .*b\.db"/,
      new RegExp(`fsync\\(.*${folder}>\\)\\s* = 0$`),
      /write\(2.*b\.db holds 2,000 plants/,
    ])
    // A piece at a time, because the commits of a server wait for each of these syncs.
    const syncs = calls.filter((call) => /f(?:data)?sync\(.*\.partial>/.test(call))
    expect(syncs.length).toBeGreaterThan(statSync(at('b.db')).size / 4_096_000)
  })
})
