import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runToEnd, startServerProcess } from '../../../../test/server-process.ts'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { ends } from '../commands/program.ts'
import { mountSmallBlocks, needsSmallBlocks } from './small-disk.ts'

async function arrange(blockBytes: number) {
  const { folder: disk, outside, under, leave } = await mountSmallBlocks(40, blockBytes)
  const folder = temporaryFolder()
  const environment = { PLANT_STORE_DATABASE_URL: `sqlite:${disk}/data/plants.db` }
  const run = (line: string) => runToEnd({ folder, environment, args: line.split(' '), under })
  expect(await run('migrate')).toMatchObject({ code: 0 })
  return {
    disk,
    folder,
    run,
    start: () => startServerProcess({ folder, environment, under }),
    leave,
    makeRoom: () => rmSync(join(outside, 'filler')),
  }
}

/** A busy machine takes its time for so many processes. */
describe('on a full disk', { ...needsSmallBlocks, timeout: 180_000 }, () => {
  // With 8 KiB left and small blocks SQLite makes its shared-memory file, but with holes.
  test.each([
    [1_024, 0],
    [1_024, 8_192],
    [4_096, 0],
  ])('with blocks of %d bytes and %d bytes left each command says so', async (block, free) => {
    const { disk, folder, run, leave, makeRoom } = await arrange(block)
    // Not by a command that only reads: it leaves 32 KiB to the next, in the shared-memory file.
    expect(await run('token create --name before')).toMatchObject({ code: 0 })
    leave(free)
    const says = `the disk is full. Try: make room on the file system of ${disk}`
    const backup = `backup ${join(folder, 'new-backup.db')}`
    const lines = ['serve', 'token list', 'token create --name x', 'export', backup, 'migrate']
    for (const line of lines) {
      expect([line, await run(line)]).toMatchObject([line, { ...ends(69, says), signal: null }])
    }
    makeRoom()
    expect(await run('token create --name after')).toMatchObject({ code: 0 })
  })

  test('a backup and a restore that find no room on it end with 73, and name it', async () => {
    const { disk, folder, run, leave } = await arrange(4_096)
    const backup = join(folder, 'backup.db')
    expect(await run('token create --name x')).toMatchObject({ code: 0 })
    const elsewhere = `--database-url sqlite:${join(folder, 'plants.db')}`
    expect(await run(`migrate ${elsewhere}`)).toMatchObject({ code: 0 })
    expect(await run(`backup ${backup} ${elsewhere}`)).toMatchObject({ code: 0 })
    leave(0)
    for (const [line, made] of [
      [`backup ${disk}/new.db ${elsewhere}`, `${disk}/new.db`],
      [`restore ${backup} --database-url sqlite:${disk}/new.db`, `${disk}/new.db`],
    ] as const) {
      const says = `cannot make ${made}: the disk is full. Try: make room on the file system of ${disk}\n`
      expect([line, await run(line)]).toMatchObject([line, ends(73, says)])
    }
  })

  test.each([1_024, 4_096])(
    'with blocks of %d bytes a running server goes on, and commands beside it read',
    async (block) => {
      const { run, start, leave, makeRoom } = await arrange(block)
      const server = await start()
      await server.client.createPlant({ id: 1, name: 'Fern' })
      leave(0)
      const name = 'a long name '.repeat(1_000)
      let status = 200
      for (let id = 2; id < 2_000 && status !== 503; id++) {
        status = (await server.client.rest.createPlant({ body: { id, name } })).status
      }
      expect(status).toBe(503)
      expect(await run('export')).toMatchObject({ code: 0 })
      makeRoom()
      await server.client.createPlant({ id: 5_000, name: 'Moss' })
      expect(await server.end()).toMatchObject({ code: 0 })
    },
  )
})
