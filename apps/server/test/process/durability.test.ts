import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { query } from '../commands/plants.ts'
import { readPlants } from '../sqlite/sqlite-file.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { startLoad } from './load.ts'
import { clientWithoutRetries, startServerProcess } from './server-process.ts'

const KILLS = 20
const CALLERS = 16

test('no acknowledged plant is lost or changed by 20 kills under load', {
  timeout: 300_000,
}, async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'data/plants.db')
  const acknowledged = new Set<bigint>()
  const sent = new Map()
  let token: string | undefined
  for (let kill = 0; kill < KILLS; kill++) {
    const server = await startServerProcess({ folder, token })
    token = server.token
    const load = startLoad(clientWithoutRetries(server), CALLERS)
    // However busy the machine is, each kill comes after the responses that it must not undo.
    while (load.acknowledged.size <= CALLERS) await sleep(5)
    await sleep(Math.random() * 200)
    server.kill('SIGKILL')
    await Promise.all([server.ended, load.ended])
    for (const id of load.acknowledged.keys()) acknowledged.add(id)
    for (const [id, plant] of load.sent) sent.set(id, plant)
  }

  const last = await startServerProcess({ folder, token })
  const stored = readPlants(path)
  expect((await last.end()).code).toBe(0)
  const storedIds = new Set(stored.map(({ id }) => id))
  expect([...acknowledged].filter((id) => !storedIds.has(id))).toEqual([])
  expect(stored).toEqual(stored.map(({ id }) => sent.get(id)))
  expect(acknowledged.size).toBeGreaterThan(KILLS * CALLERS)
  expect(query(path, 'PRAGMA integrity_check')).toEqual({ integrity_check: 'ok' })
})
