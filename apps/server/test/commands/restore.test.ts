import {
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { startServerProcess } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { contentOf, execute, makeStore, spreadPlants, takeSchemaBack } from './plants.ts'
import { runOn } from './program.ts'
import { runShell } from './shell.ts'

async function arrange(plants = 500) {
  const folder = temporaryFolder()
  const source = join(folder, 'source.db')
  const backup = join(folder, 'backup.db')
  const target = join(folder, 'new/plants.db')
  await makeStore(source, spreadPlants(plants))
  await runOn(source, 'token create --name greenhouse')
  await runOn(source, `backup ${backup}`)
  return { folder, source, backup, target, restore: () => runOn(target, `restore ${backup}`) }
}

describe('restore', () => {
  test('makes a store that is missing, with its tokens', async () => {
    const { source, target, restore } = await arrange()
    const { code, err } = await restore()
    expect(code).toBe(0)
    expect(err).toContain('plants.db holds 500 plants and 1 token of ')
    expect(err).toContain('revoke again the tokens that were revoked since')
    expect(contentOf(target)).toEqual(contentOf(source))
    expect(readdirSync(join(target, '..'))).toEqual(['plants.db'])
    expect((await runOn(target, ['token', 'list'])).out).toContain('greenhouse')
  })

  test('fills a store without plants, and its tokens stay', async () => {
    const { source, target, restore } = await arrange()
    await runOn(target, ['token', 'create', '--name', 'first-run'])
    expect(await restore()).toMatchObject({ code: 0 })
    expect(contentOf(target)).toEqual(contentOf(source))
    const { out } = await runOn(target, ['token', 'list'])
    expect(out).toContain('greenhouse')
    expect(out).toContain('first-run')
    expect(readdirSync(join(target, '..')).filter((name) => name.includes('partial'))).toEqual([])
  })

  test('fills a store that a server has open, and the server goes on with it', async () => {
    const { folder, backup } = await arrange()
    const server = await startServerProcess({ folder })
    expect(await runShell(folder, `server restore ${backup}`)).toMatchObject({ code: 0 })
    const [stored] = spreadPlants(1)
    await server.client.createPlant(stored ?? { id: 0, name: '' })
    await expect(
      server.client.createPlant({ id: stored?.id ?? 0, name: 'another' }),
    ).rejects.toThrow()
    await server.client.createPlant({ id: 1, name: 'new' })
    expect(contentOf(join(folder, 'data/plants.db')).count).toBe(501)
  })

  test('brings an older schema to the newest', async () => {
    const { backup, target, restore } = await arrange()
    execute(backup, 'DROP TABLE backup_digest')
    takeSchemaBack(backup)
    await runOn(target, ['token', 'create', '--name', 'first-run'])
    expect(await restore()).toMatchObject({ code: 0 })
    expect(contentOf(target).count).toBe(500)
    expect((await runOn(target, ['token', 'list'])).out).toContain('first-run')
  })

  test('takes a copy whose last plants are still in its write-ahead log', async () => {
    const { folder, target } = await arrange()
    const copy = join(folder, 'copy.db')
    await makeStore(copy, [])
    const writer = new DatabaseSync(copy)
    writer.exec("INSERT INTO plants VALUES (1, 'in the log', NULL)")
    expect(await runOn(target, ['restore', copy])).toMatchObject({ code: 0 })
    writer.close()
    expect(contentOf(target).count).toBe(1)
  })
})

describe('restore is refused, and everything stays as it was', () => {
  test('where the store holds plants', async () => {
    const { target, restore } = await arrange()
    await makeStore(target, spreadPlants(1))
    const before = readFileSync(target)
    const { code, err } = await restore()
    expect(code).toBe(69)
    expect(err).toContain(
      'holds 1 plant, and restore never replaces one. Try: plant-store-server restore',
    )
    expect(readFileSync(target).equals(before)).toBe(true)
  })

  test('beside a write-ahead log whose database is gone', async () => {
    const { folder, backup } = await arrange()
    const target = join(folder, 'lone.db')
    writeFileSync(`${target}-wal`, 'plants that were answered 200')
    expect(await runOn(target, ['restore', backup])).toMatchObject({
      code: 69,
      err: expect.stringContaining('lone.db is missing but'),
    })
    expect(existsSync(target)).toBe(false)
  })

  test.each<[string, (file: string) => void, RegExp]>([
    ['missing', (file) => truncateSync(file), /there is no plant store in .*backup\.db/],
    [
      'cut short',
      (file) => truncateSync(file, statSync(file).size - 4096),
      /backup\.db (?:is corrupt|cannot be read)/,
    ],
    ['no database', (file) => writeFileSync(file, 'x'.repeat(9999)), /cannot be read as a plant/],
    [
      'damaged inside',
      (file) => {
        const bytes = readFileSync(file)
        bytes.fill(0xff, bytes.length - 6000, bytes.length - 5000)
        writeFileSync(file, bytes)
      },
      /backup\.db (?:is corrupt|cannot be read)/,
    ],
  ])('where the backup is %s', async (_how, damage, message) => {
    const { folder, backup, restore } = await arrange()
    damage(backup)
    const { code, err } = await restore()
    expect(code).toBe(69)
    expect(err).toMatch(message)
    expect(existsSync(join(folder, 'new'))).toBe(false)
  })

  test('where a signal stops it', async () => {
    const { backup, target } = await arrange()
    const stop = AbortSignal.abort('SIGTERM')
    expect(await runOn(target, `restore ${backup}`, { stop })).toMatchObject({
      code: 75,
      err: expect.stringContaining('Nothing was restored'),
    })
    expect(existsSync(join(target, '..'))).toBe(false)
  })

  test('where there is no such backup', async () => {
    const { target } = await arrange()
    expect(await runOn(target, ['restore', '/nowhere/backup.db'])).toMatchObject({ code: 66 })
  })
})
