import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'
import { runToEnd, startServerProcess } from './server-process.ts'
import { mountSmallBlocks, needsSmallBlocks } from './small-disk.ts'

async function arrange(blockBytes: number) {
  const { folder: disk, outside, under, leave } = await mountSmallBlocks(40, blockBytes)
  const folder = temporaryFolder()
  mkdirSync(join(outside, 'data'))
  const environment = { PLANT_STORE_DATABASE_URL: `sqlite:${disk}/data/plants.db` }
  const run = (...args: string[]) => runToEnd({ folder, environment, args, under })
  const commands = [
    ['serve'],
    ['token', 'list'],
    ['token', 'create', '--name', 'greenhouse'],
    ['export'],
    ['backup', join(folder, 'new-backup.db')],
    ['migrate'],
  ]
  return {
    disk,
    commands,
    run,
    store: (name: string) => run('token', 'create', '--name', name),
    start: () => startServerProcess({ folder, environment, under }),
    leave,
    makeRoom: () => rmSync(join(outside, 'filler')),
  }
}

/** A busy machine takes its time for so many processes. */
const LIMIT_MS = 180_000

describe('on a full disk', needsSmallBlocks, () => {
  // With 8 KiB left and small blocks SQLite makes its shared-memory file, but with holes.
  test.each([
    [1_024, 0],
    [1_024, 8_192],
    [4_096, 0],
  ])(
    'with blocks of %d bytes and %d bytes left each command says so',
    async (blockBytes, freeBytes) => {
      // Not by a command that only reads: it leaves 32 KiB to the next, in the shared-memory file.
      const { disk, commands, run, store, leave, makeRoom } = await arrange(blockBytes)
      expect(await store('before')).toMatchObject({ code: 0 })
      leave(freeBytes)
      for (const command of commands) {
        const err = expect.stringContaining(
          `the disk is full. Try: make room on the file system of ${disk}`,
        )
        expect([command, await run(...command)]).toEqual([
          command,
          expect.objectContaining({ code: 69, signal: null, err }),
        ])
      }
      makeRoom()
      expect(await store('after')).toMatchObject({ code: 0 })
    },
    LIMIT_MS,
  )

  test.each([1_024, 4_096])(
    'with blocks of %d bytes a running server goes on, and commands beside it read',
    async (blockBytes) => {
      const { run, start, leave, makeRoom } = await arrange(blockBytes)
      const server = await start()
      await server.client.createPlant({ id: 1, name: 'Fern' })
      leave(0)
      const name = 'a long name '.repeat(1_000)
      const statuses = new Set<number>()
      for (let id = 2; id < 2_000 && !statuses.has(503); id++) {
        statuses.add((await server.client.rest.createPlant({ body: { id, name } })).status)
      }
      expect(statuses).toContain(503)
      expect(await run('export')).toMatchObject({ code: 0 })
      makeRoom()
      await server.client.createPlant({ id: 5_000, name: 'Moss' })
      expect(await server.end()).toMatchObject({ code: 0 })
    },
    LIMIT_MS,
  )
})
