import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readPlants } from '../sqlite/sqlite-file.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { startServerProcess, statusesOf } from './server-process.ts'
import { failSystemCall, needsStrace } from './system-calls.ts'

/** A server with one plant. */
async function start() {
  const folder = temporaryFolder()
  const server = await startServerProcess({ folder })
  await server.client.createPlant({ id: 1, name: 'before' })
  const storedIds = () => readPlants(join(folder, 'data/plants.db')).map(({ id }) => Number(id))
  return { folder, server, storedIds }
}

describe('a server whose disk fails', needsStrace, () => {
  test('answers 503 while the disk is full, and stores again once there is room', async () => {
    const { folder, server, storedIds } = await start()
    const statusOf = async (path: string) => (await fetch(server.operationsUrl + path)).status
    const makeRoom = await failSystemCall(server.pid, 'pwrite64', 'ENOSPC')
    const refused = await server.client.rest.createPlant({ body: { id: 2, name: 'full' } })
    expect(refused).toMatchObject({ status: 503, body: { error: 50300 } })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect([await statusOf('/readyz'), await statusOf('/livez')]).toEqual([503, 200])
    await server.untilLogged('the store is not ready: the disk is full')
    await server.untilLogged(`make room on the file system of ${folder}/data`)

    await makeRoom()
    expect(await statusOf('/readyz')).toBe(200)
    expect(storedIds()).toEqual([1])
    await server.client.createPlant({ id: 2, name: 'room again' })
    expect((await server.end()).code).toBe(0)
    expect(storedIds()).toEqual([1, 2])
  })

  test.each([
    ['a sync', 'fsync,fdatasync'],
    ['a write', 'pwrite64'],
  ])('answers that the outcome is unknown when %s fails, and ends', async (_what, call) => {
    const { folder, server, storedIds } = await start()
    await failSystemCall(server.pid, call, 'EIO')
    const ids = [2, 3, 4, 5, 6, 7, 8, 9]
    const errors = await statusesOf(server, ids)
    const { code, err } = await server.ended
    expect(code).toBe(74)
    expect(err).toMatch(/^{"level":"fatal".*"exitCode":74,"msg":"stopped"}$/m)
    expect(errors).toContain(50001)
    expect(errors.filter((error) => ![50001, 50300, undefined].includes(error))).toEqual([])

    const next = await startServerProcess({ folder, token: server.token })
    expect(storedIds()).toContain(1)
    expect(storedIds().filter((id) => errors[ids.indexOf(id)] === 50300)).toEqual([])
    expect(new Set(await statusesOf(next, ids))).toEqual(new Set([200]))
    expect(storedIds()).toEqual([1, ...ids])
  })
})
