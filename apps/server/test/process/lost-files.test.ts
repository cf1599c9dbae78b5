import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ErrorBody } from '@plant-store/contract'
import { describe, expect, test } from 'vitest'
import { makeStore, spreadPlants } from '../commands/plants.ts'
import { readPlants } from '../sqlite/sqlite-file.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { runToEnd, type ServerProcess, startServerProcess } from './server-process.ts'

const deleted = (path: string) => rmSync(path)

/** As an operator would put a backup in its place. */
function replaced(path: string): void {
  copyFileSync(path, `${path}.other`)
  renameSync(`${path}.other`, path)
}

async function arrange() {
  const folder = temporaryFolder()
  const server = await startServerProcess({ folder })
  return { folder, server, path: join(folder, 'data/plants.db') }
}

/** Possible outcomes of creates once the files are lost; the last create may find no server. */
const NOT_STORED = [50_001, 50_300, undefined]

/** Sends creates together; 200 or the error of each. */
async function createMany(server: ServerProcess, ids: readonly number[]) {
  const results = await Promise.allSettled(
    ids.map((id) => server.client.rest.createPlant({ body: { id, name: 'Fern' } })),
  )
  return results.map((result) =>
    result.status === 'fulfilled' ? ((result.value.body as ErrorBody).error ?? 200) : undefined,
  )
}

describe.each([
  ['deleted', 'plants.db was deleted or moved', deleted],
  ['replaced', 'plants.db was replaced by another file', replaced],
])('a server whose database is %s', (_what, reason, change) => {
  test.each([
    ['before its first plant', 0],
    ['after a lone plant', 1],
    ['while its thread commits', 200],
  ])('%s answers no create 200 from then on, says so, and ends', async (_when, before) => {
    const { server, path } = await arrange()
    const ids = Array.from({ length: before }, (_, id) => id)
    expect(new Set(await createMany(server, ids))).toEqual(new Set(before > 0 ? [200] : []))
    change(path)
    const replies = await createMany(server, [1_001, 1_002, 1_003, 1_004, 1_005, 1_006])
    expect(replies.filter((reply) => !NOT_STORED.includes(reply))).toEqual([])
    const { code, err } = await server.ended
    expect({ code, err }).toEqual({ code: 74, err: expect.stringContaining(reason) })
  })

  test('is not ready any more, and ends', async () => {
    const { server, path } = await arrange()
    change(path)
    expect((await fetch(`${server.operationsUrl}/readyz`)).status).toBe(503)
    expect((await server.ended).code).toBe(74)
  })

  test('does not end as if all was well when it is asked to', async () => {
    const { server, path } = await arrange()
    change(path)
    expect((await server.end()).code).toBe(74)
  })
})

test('a server whose database is deleted leaves the log, and the next start refuses it', async () => {
  const { folder, server, path } = await arrange()
  await server.client.createPlant({ id: 1, name: 'Fern' })
  rmSync(path)
  expect(await createMany(server, [2])).toEqual([50_001])
  await server.ended
  expect(existsSync(`${path}-wal`)).toBe(true)
  const { code, err } = await runToEnd({ folder })
  expect({ code, err }).toMatchObject({ code: 69, err: expect.stringContaining('is missing but') })
})

test('a server whose log is deleted ends, and one whose place another store took leaves that whole', async () => {
  const { server, path } = await arrange()
  rmSync(`${path}-wal`)
  expect(NOT_STORED).toContain((await createMany(server, [1]))[0])
  expect((await server.ended).code).toBe(74)

  const another = await arrange()
  await makeStore(join(another.folder, 'other.db'), spreadPlants(3))
  renameSync(join(another.folder, 'other.db'), another.path)
  expect(NOT_STORED).toContain((await createMany(another.server, [1]))[0])
  expect((await another.server.ended).code).toBe(74)
  expect(readPlants(another.path)).toHaveLength(3)
})
