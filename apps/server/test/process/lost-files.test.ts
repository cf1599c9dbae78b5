import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeStore, spreadPlants } from '../commands/plants.ts'
import { readPlants } from '../sqlite/sqlite-file.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { createMany, runToEnd, startServerProcess, statusesOf } from './server-process.ts'

/** As an operator would put a backup in its place. */
function replace(path: string): void {
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

describe.each([
  ['deleted', 'plants.db was deleted or moved', rmSync],
  ['replaced', 'plants.db was replaced by another file', replace],
])('a server whose database is %s', (_what, reason, change) => {
  test.each([
    ['before its first plant', 0],
    ['after a lone plant', 1],
    ['while its thread commits', 200],
  ])('%s answers no create 200 from then on, says so, and ends', async (_when, before) => {
    const { server, path } = await arrange()
    await createMany(server, before)
    change(path)
    const answers = await statusesOf(server, [1_001, 1_002, 1_003, 1_004, 1_005, 1_006])
    expect(answers.filter((answer) => !NOT_STORED.includes(answer))).toEqual([])
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
  await createMany(server, 1)
  rmSync(path)
  expect(await statusesOf(server, [2])).toEqual([50_001])
  await server.ended
  expect(existsSync(`${path}-wal`)).toBe(true)
  const { code, err } = await runToEnd({ folder })
  expect({ code, err }).toEqual({ code: 69, err: expect.stringContaining('is missing but') })
})

test('a server whose log is deleted ends', async () => {
  const { server, path } = await arrange()
  rmSync(`${path}-wal`)
  expect(NOT_STORED).toContain((await statusesOf(server, [1]))[0])
  expect((await server.ended).code).toBe(74)
})

test('a server whose place another store took leaves that whole, and ends', async () => {
  const { server, path } = await arrange()
  await makeStore(`${path}.other`, spreadPlants(3))
  renameSync(`${path}.other`, path)
  expect(NOT_STORED).toContain((await statusesOf(server, [1]))[0])
  expect((await server.ended).code).toBe(74)
  expect(readPlants(path)).toHaveLength(3)
})
