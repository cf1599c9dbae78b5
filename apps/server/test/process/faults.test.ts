import { join } from 'node:path'
import type { ErrorBody } from '@plant-store/contract'
import { describe, expect, test } from 'vitest'
import { readPlants } from '../sqlite/sqlite-file.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { startServerProcess } from './server-process.ts'
import { failSystemCall, needsStrace } from './system-calls.ts'

describe('a server whose disk fails', needsStrace, () => {
  test('answers 503 while the disk is full, and stores again once there is room', async () => {
    const folder = temporaryFolder()
    const server = await startServerProcess({ folder })
    await server.client.createPlant({ id: 1, name: 'before' })

    const makeRoom = await failSystemCall(server.pid, 'pwrite64', 'ENOSPC')
    const refused = await server.client.rest.createPlant({ body: { id: 2, name: 'full' } })
    expect(refused).toMatchObject({ status: 503, body: { error: 50300 } })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await fetch(`${server.operationsUrl}/readyz`)).status).toBe(503)
    expect((await fetch(`${server.operationsUrl}/livez`)).status).toBe(200)

    await makeRoom()
    expect((await fetch(`${server.operationsUrl}/readyz`)).status).toBe(200)
    expect(readPlants(join(folder, 'data/plants.db')).map(({ id }) => id)).toEqual([1n])
    await server.client.createPlant({ id: 2, name: 'room again' })
    expect((await server.end()).code).toBe(0)
    expect(readPlants(join(folder, 'data/plants.db'))).toHaveLength(2)
  })

  test.each([
    ['a sync', 'fsync,fdatasync'],
    ['a write', 'pwrite64'],
  ])('answers that the outcome is unknown when %s fails, and ends', async (_what, call) => {
    const folder = temporaryFolder()
    const server = await startServerProcess({ folder })
    await server.client.createPlant({ id: 1, name: 'before' })

    await failSystemCall(server.pid, call, 'EIO')
    const ids = [2, 3, 4, 5, 6, 7, 8, 9]
    const results = await Promise.allSettled(
      ids.map((id) => server.client.rest.createPlant({ body: { id, name: 'lost?' } })),
    )
    const { code, err } = await server.ended
    expect(code).toBe(74)
    expect(err).toMatch(/^{"level":"fatal".*"exitCode":74,"msg":"stopped"}$/m)
    const replies = results.map((result) =>
      result.status === 'fulfilled' ? (result.value.body as ErrorBody).error : undefined,
    )
    expect(replies).toContain(50001)
    expect(new Set([50001, 50300, undefined])).toEqual(new Set([...replies, 50300, undefined]))

    const next = await startServerProcess({ folder, token: server.token })
    const stored = readPlants(join(folder, 'data/plants.db')).map(({ id }) => Number(id))
    expect(stored).toContain(1)
    expect(stored.filter((id) => replies[ids.indexOf(id)] === 50300)).toEqual([])
    for (const id of ids) await next.client.createPlant({ id, name: 'lost?' })
    expect(readPlants(join(folder, 'data/plants.db'))).toHaveLength(1 + ids.length)
  })
})
