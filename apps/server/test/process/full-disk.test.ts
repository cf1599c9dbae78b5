import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'
import { fill, makeSmallDisk, needsDisks } from './ext4-disk.ts'
import { runToEnd, startServerProcess } from './server-process.ts'

const COMMANDS = [
  ['serve'],
  ['token', 'list'],
  ['token', 'create', '--name', 'greenhouse'],
  ['export'],
  ['load', 'plants.csv'],
  ['backup', 'new-backup.db'],
  ['migrate'],
]

async function arrange(blockBytes: number) {
  const disk = makeSmallDisk(blockBytes)
  const folder = temporaryFolder()
  const path = join(disk, 'data', 'plants.db')
  mkdirSync(join(disk, 'data'))
  writeFileSync(join(folder, 'plants.csv'), 'id,name\n1,Fern\n')
  const environment = { PLANT_STORE_DATABASE_URL: `sqlite:${path}` }
  const run = (...args: string[]) => runToEnd({ folder, environment, args })
  const start = (token?: string) => startServerProcess({ folder, environment, token })
  return { disk, folder, path, run, start }
}

/** A busy machine takes its time for so many processes. */
const LIMIT_MS = 180_000

describe('on a full disk', needsDisks, () => {
  // With 6 KiB left and small blocks SQLite makes its shared-memory file, but with holes.
  test.each([
    [1_024, 0],
    [1_024, 6_144],
    [4_096, 0],
  ])(
    'with blocks of %d bytes and %d bytes left each command says so',
    async (blockBytes, freeBytes) => {
      // Not by a command that only reads: it leaves 32 KiB to the next, in the shared-memory file.
      const { disk, path, run } = await arrange(blockBytes)
      await run('load', 'plants.csv')
      fill(disk, freeBytes)
      for (const command of COMMANDS) {
        const err = expect.stringContaining(
          `the disk is full: make room on the file system of ${disk}`,
        )
        expect([command, await run(...command)]).toEqual([
          command,
          expect.objectContaining({ code: 69, signal: null, err }),
        ])
      }
      const { code, out } = await run('doctor')
      expect(code).toBe(1)
      expect(out).toMatch(/^failure {2}store: the disk is full\. Try: make room/m)
      rmSync(join(disk, 'filler'))
      expect(await run('load', 'plants.csv')).toMatchObject({ code: 0 })
      expect(statSync(path).size).toBeGreaterThan(0)
    },
    LIMIT_MS,
  )

  test.each([1_024, 4_096])(
    'with blocks of %d bytes a running server goes on, and commands beside it read',
    async (blockBytes) => {
      const { disk, run, start } = await arrange(blockBytes)
      const server = await start()
      await server.client.createPlant({ id: 1, name: 'Fern' })
      fill(disk, 0)
      const name = 'a long name '.repeat(1_000)
      const statuses = new Set<number>()
      for (let id = 2; id < 2_000 && !statuses.has(503); id++) {
        statuses.add((await server.client.rest.createPlant({ body: { id, name } })).status)
      }
      expect(statuses).toContain(503)
      expect(await run('export')).toMatchObject({ code: 0 })
      rmSync(join(disk, 'filler'))
      await server.client.createPlant({ id: 5_000, name: 'Moss' })
      expect(await server.end()).toMatchObject({ code: 0 })
    },
    LIMIT_MS,
  )
})
