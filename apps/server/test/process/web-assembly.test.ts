import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'
import { startServerProcess } from './server-process.ts'

/** Opens a store a few times: each starts a thread, whose types are stripped. */
const OPEN_STORES = `
const { openSqliteStore } = await import(${JSON.stringify(join(import.meta.dirname, '../../src/sqlite/store.ts'))})
for (let id = 0n; id < 4n; id++) {
  const store = await openSqliteStore({ path: 'plants.db' })
  await store.plants.create({ id, name: 'Fern' })
  await store.close()
}`

test('threads that tests start from sources free no WebAssembly, which can crash', () => {
  const flags = [...process.execArgv, '--trace-wasm-code-gc', '--input-type=module']
  const options = { cwd: temporaryFolder(), encoding: 'utf8' } as const
  const { status, stdout } = spawnSync(process.execPath, [...flags, '--eval', OPEN_STORES], options)
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
})

test('a server needs no WebAssembly in any of its threads', async () => {
  const { client, end } = await startServerProcess({
    // There is none without code that is made at run time.
    nodeFlags: ['--jitless'],
  })
  const ids = Array.from({ length: 50 }, (_, id) => id)
  await Promise.all(ids.map((id) => client.createPlant({ id, name: 'Fern' })))
  expect(await end()).toMatchObject({ code: 0 })
})
